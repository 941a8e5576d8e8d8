import type { ServerResponse } from 'node:http';
import { resources } from '../../archive/format/resources';
import type { ContractTarget } from './contract-path';

/** Answers the request wrongly, or returns false to let the right answer follow. `nth` counts the requests for this resource of the cluster, from 1. */
type Fault = (response: ServerResponse, target: ContractTarget, nth: number) => boolean;

/**
 * Ways in which a cluster of the demo can fail, so that one can see how a run reports it. The contract does not show what
 * a real service answers then (service contract, section 7): these are the demo's own choice.
 */
const faults = {
  /** The key may not read the cluster. */
  forbidden: (response) => sendError(response, 403, 'Forbidden', 'The key does not give access to this cluster.'),
  /** The cluster was deleted, or never existed. */
  'not-found': (response, { uid }) => sendError(response, 404, 'NotFound', `Cluster ${uid} does not exist.`),
  /** Every request fails. */
  'server-error': (response) => sendError(response, 500, 'Internal', 'The cluster does not answer the service.'),
  /** The first request gets 429 and `Retry-After: 1`; a retry archives the cluster. */
  'throttled-once': (response, _, nth) =>
    nth === 1 && sendError(response, 429, 'TooManyRequests', 'Ask again later.', { 'Retry-After': '1' }),
  /** The page of a proxy or a sign-in, under status 200. */
  'html-page': (response) =>
    send(response, 'text/html; charset=utf-8', '<!doctype html>\n<title>Sign in</title>\n<p>Please sign in.</p>\n'),
  /** A manifest in Latin-1, which is archived with a doubt; the log is right. */
  'latin-1': (response, { resource }) =>
    !resources[resource].holdsLog && send(response, 'text/plain', Buffer.from('name: gr\xf6\xdfe\n', 'latin1')),
  /** The log of another cluster; the manifest is right. */
  'other-cluster': (response, { uid, resource }) =>
    resources[resource].holdsLog &&
    send(response, 'application/json', JSON.stringify({ spec: { clusterUid: `not-${uid}`, log: 'not yours\n' } })),
  /** Ends before its announced length, every time. */
  'cut-short': (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 10_000 });
    response.write('{"metadata":{', () => response.destroy());
    return true;
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

export const faultNames = Object.keys(faults) as FaultName[];

/**
 * @param name undefined: the cluster does not fail
 * @returns whether the fault has answered; otherwise the right answer is to follow
 */
export function answerWithFault(
  name: FaultName | undefined,
  response: ServerResponse,
  target: ContractTarget,
  nth: number,
): boolean {
  return name !== undefined && (faults[name] as Fault)(response, target, nth);
}

/** An error as this demo answers it: a JSON object with `code` and `message`. */
export function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): true {
  return send(response, 'application/json', JSON.stringify({ code, message }), status, headers);
}

function send(response: ServerResponse, contentType: string, body: string | Buffer, status = 200, headers = {}): true {
  response.writeHead(status, { 'Content-Type': contentType, ...headers });
  response.end(body);
  return true;
}
