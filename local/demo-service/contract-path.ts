import { type Resource, resourceNames, resources } from '../../lambda/resources';

export interface ContractTarget {
  readonly uid: string;
  readonly resource: Resource;
  /** Query parameter `requestId`. */
  readonly requestId: string | undefined;
}

/**
 * What a request line asks for; undefined if it is none of the two calls (service contract, section 4). Reads the raw
 * text: a URL parser would resolve `%2e%2e`.
 */
export function parseContractPath(requestTarget: string, collection: string): ContractTarget | undefined {
  const [path = '', query] = splitOnce(requestTarget, '?');
  const [empty, version, segment, encodedUid, ...rest] = path.split('/');
  if (empty !== '' || version !== 'v1' || segment !== encodeURIComponent(collection)) return undefined;
  const uid = decode(encodedUid ?? '');
  const resource = resourceNames.find((name) => resources[name].path === rest.join('/'));
  if (uid === undefined || uid === '' || resource === undefined) return undefined;
  return { uid, resource, requestId: new URLSearchParams(query).get('requestId') ?? undefined };
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
