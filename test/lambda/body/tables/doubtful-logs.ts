import { json, type TableEntry, uid } from './table-entry';

const own = { spec: { clusterUid: uid, log: 'a' } };
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Log records that are archived with a doubt. */
export const doubtfulLogs: readonly TableEntry[] = [
  json('empty metadata', { metadata: {} }),
  json('an empty spec', { spec: {} }),
  json('an empty status', { status: {} }),
  json('metadata alone', { metadata: { name: 'log-fetcher', uid: '1' } }),
  json('a page of a list', { metadata: { total: 0 }, items: [] }),
  json('a spec of other members', { spec: { x: 1 } }),
  json('a Kubernetes object without its kind', { spec: { containers: [] }, status: { phase: 'Running' } }),
  json('an error beside the record', { ...own, error: 'no node answered' }),
  json('errors beside the record', { ...own, errors: [] }),
  json('an error beside a state', { status: { state: 'Failed' }, error: 'token expired' }),
  json('a state and an error code in the status alone', { status: { state: 'error', code: 401, message: 'expired' } }),
  json('another kind that has a state', {
    apiVersion: 'fleet.example/v1',
    kind: 'Cluster',
    metadata: {},
    spec: { nodes: 3 },
    status: { state: 'Ready' },
  }),
  json('a state that is too long to be recorded', { ...own, status: { state: 'x'.repeat(4097) } }),
  json('a uid that is too long to be recorded', { ...own, metadata: { uid: 'ä'.repeat(5000) } }),
  json('a date that is too long to be recorded', { ...own, metadata: { lastModifiedTimestamp: '😀'.repeat(3000) } }),
  { name: 'Latin-1 in the log', body: latin1('{"spec":{"clusterUid":"cluster-1","log":"gr\xf6\xdfe"}}') },
  { name: 'an overlong slash in the log', body: latin1('{"spec":{"log":"\xc0\xaf"}}') },
  { name: 'half a surrogate pair in the log', body: latin1('{"spec":{"log":"\xed\xa0\x80"}}') },
  { name: 'a character above U+10FFFF in the log', body: latin1('{"spec":{"log":"\xf4\x90\x80\x80"}}') },
  { name: 'a character of the log that its quote cuts', body: latin1('{"spec":{"log":"a\xe2\x82"},"status":{}}') },
  { name: 'a character of the log that an escape cuts', body: latin1('{"spec":{"log":"\xe2\\n\xe2\x82\\u0041"}}') },
  { name: 'a log of nothing but wrong bytes', body: latin1(`{"spec":{"log":"${'\xff\x80'.repeat(100)}"}}`) },
];
