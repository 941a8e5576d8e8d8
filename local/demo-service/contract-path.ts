import { type Resource, resourceNames, resources } from '../../archive/format/resources';

export interface ContractTarget {
  readonly uid: string;
  readonly resource: Resource;
  /** Query parameter `requestId`. */
  readonly requestId: string | undefined;
}

/**
 * What a request line asks for; undefined if it is neither of the two calls (service contract, section 4). Reads the raw
 * text: a URL parser would resolve `%2e%2e`.
 */
export function parseContractPath(requestTarget: string, collection: string): ContractTarget | undefined {
  const [path = '', ...query] = requestTarget.split('?');
  const [empty, version, segment, encodedUid, ...rest] = path.split('/');
  if (empty !== '' || version !== 'v1' || segment !== encodeURIComponent(collection)) return undefined;
  const uid = decode(encodedUid ?? '');
  const resource = resourceNames.find((name) => resources[name].path === rest.join('/'));
  if (uid === undefined || uid === '' || resource === undefined) return undefined;
  return { uid, resource, requestId: new URLSearchParams(query.join('?')).get('requestId') ?? undefined };
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
