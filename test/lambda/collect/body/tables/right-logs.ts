import { json, type TableEntry, uid, whole } from './table-entry';

const own = { spec: { clusterUid: uid, log: 'a\n' } };

/** Log records that must be archived without a doubt. */
export const rightLogs: readonly TableEntry[] = [
  json('a record with every member', {
    metadata: {
      annotations: { team: 'a' },
      creationTimestamp: '2026-11-20T10:00:00Z',
      deletionTimestamp: '2026-11-21T10:00:00Z',
      labels: { a: 'b' },
      lastModifiedTimestamp: '2026-11-20T10:05:00+01:00',
      name: 'log-fetcher',
      uid: 'record-1',
    },
    spec: { clusterUid: uid, log: 'größer\n"quoted"\t日本 😀' },
    status: { state: 'Available' },
  }),
  whole('an indented record', `\r\n${JSON.stringify(own, undefined, '\t').replaceAll('\n', '\r\n')}\r\n`),
  whole('a byte order mark', `\ufeff${JSON.stringify(own)}`),
  whole('a byte order mark and whitespace', `\ufeff \n${JSON.stringify(own)}`),
  json('the cluster alone', { spec: { clusterUid: uid } }),
  json('the log alone', { spec: { log: '' } }),
  json('the state alone', { status: { state: '' } }),
  json('no log yet', { metadata: { name: 'a' }, spec: { clusterUid: uid }, status: { state: 'Pending' } }),
  json('null for everything but the cluster', {
    metadata: { annotations: null, labels: null, name: null, uid: null, creationTimestamp: null },
    spec: { clusterUid: uid, log: null },
    status: { state: null },
  }),
  json('null for every own member', { spec: { clusterUid: null, log: null }, status: { state: null } }),
  json('null for the other sections', { metadata: null, status: null, ...own }),
  ...['error', 'Error', 'Failed', 'failure', 'Unauthorized', '404 Not Found', '{"code":401}', 'null'].map((state) =>
    json(`the state ${state}`, { ...own, status: { state } }),
  ),
  json('a state with its reason', { ...own, status: { state: 'Failed', reason: 'Disk', message: 'full', code: 28 } }),
  json('a failed fetcher', { spec: { clusterUid: uid }, status: { state: 'error', error: 'no node answered' } }),
  json('a log that is an error document', {
    spec: { clusterUid: uid, log: '{"code":"Unauthorized","message":"token expired"}' },
  }),
  json('a log that is a page', { spec: { clusterUid: uid, log: '<!DOCTYPE html><html>' } }),
  json('a log with control characters', { spec: { clusterUid: uid, log: '\u0000\u001b[31m\u007f\r' } }),
  whole('a log with half a surrogate pair', `{"spec":{"clusterUid":"${uid}","log":"\\ud83d x \\ude00"}}`),
  json('a log with a replacement character', { spec: { clusterUid: uid, log: 'a\ufffdb' } }),
  json('errors in the annotations', { metadata: { annotations: { error: 'x', errors: [1], code: 5 } }, ...own }),
  json('numbers and objects in annotations and labels', {
    metadata: { annotations: { a: 1, b: { c: [null] } }, labels: { d: true } },
    ...own,
  }),
  json('members that the contract does not name', {
    ...own,
    generation: 7,
    metadata: { generation: 1, error: 'x' },
    links: [],
  }),
  json('the kind of a record', { apiVersion: 'fleet.example/v1', kind: 'LogFetcher', ...own }),
  json('words of lists that say nothing', {
    ...own,
    truncated: false,
    next: null,
    nextPageToken: '',
    continue: 'b',
    metadata: { continue: '', annotations: { truncated: true } },
    page: { hasMore: true },
    status: { state: 'a', next: 'second step' },
  }),
  json('an error that is null', { error: null, errors: null, ...own }),
  json('a code and a reason beside the record', { code: 200, reason: 'OK', ...own }),
  whole('a repeated member that the contract does not name', `{"x":1,"x":2,"spec":{"log":"","y":1,"y":2}}`),
  whole('names and values as escapes', `{"\\u0073pec":{"\\u0063lusterUid":"\\u0063luster-1"}}`),
  whole(
    'deep annotations',
    `{"metadata":{"annotations":{"a":${'['.repeat(900)}${']'.repeat(900)}}},"spec":{"log":""}}`,
  ),
  json('the longest state', { ...own, status: { state: 'x'.repeat(4096) } }),
  json('dates in another form', { metadata: { creationTimestamp: '20 Nov 2026', lastModifiedTimestamp: '' }, ...own }),
];
