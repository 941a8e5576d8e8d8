import { all, json, type TableEntry, uid, under } from './table-entry';

const own = { spec: { clusterUid: uid, log: 'a' } };
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Log records that are archived with a doubt. */
export const doubtfulLogs: readonly TableEntry[] = [
  ...all('it has none of spec.clusterUid, spec.log, status.state', [
    json('empty metadata', { metadata: {} }),
    json('an empty spec', { spec: {} }),
    json('an empty status', { status: {} }),
    json('metadata alone', { metadata: { name: 'log-fetcher', uid: '1' } }),
    json('a page of a list', { metadata: { total: 0 }, items: [] }),
    json('a spec of other members', { spec: { x: 1 } }),
    json('a Kubernetes object without its kind', { spec: { containers: [] }, status: { phase: 'Running' } }),
  ]),
  ...all('it has error beside metadata, spec and status', [
    json('an error beside the record', { ...own, error: 'no node answered' }),
    json('an error beside a state', { status: { state: 'Failed' }, error: 'token expired' }),
  ]),
  ...all('it has errors beside metadata, spec and status', [json('errors beside the record', { ...own, errors: [] })]),
  ...all('it has status.code, and neither spec.clusterUid nor spec.log', [
    json('a state and an error code in the status alone', {
      status: { state: 'error', code: 401, message: 'expired' },
    }),
  ]),
  ...all('it has apiVersion and kind, and neither spec.clusterUid nor spec.log', [
    json('another kind that has a state', {
      apiVersion: 'fleet.example/v1',
      kind: 'Cluster',
      metadata: {},
      spec: { nodes: 3 },
      status: { state: 'Ready' },
    }),
  ]),
  ...all('it has bytes that are not UTF-8', [
    { name: 'Latin-1 in the log', body: latin1('{"spec":{"clusterUid":"cluster-1","log":"gr\xf6\xdfe"}}') },
    { name: 'an overlong slash in the log', body: latin1('{"spec":{"log":"\xc0\xaf"}}') },
    { name: 'half a surrogate pair in the log', body: latin1('{"spec":{"log":"\xed\xa0\x80"}}') },
    { name: 'a character above U+10FFFF in the log', body: latin1('{"spec":{"log":"\xf4\x90\x80\x80"}}') },
    { name: 'a character of the log that its quote cuts', body: latin1('{"spec":{"log":"a\xe2\x82"},"status":{}}') },
    { name: 'a character of the log that an escape cuts', body: latin1('{"spec":{"log":"\xe2\\n\xe2\x82\\u0041"}}') },
    { name: 'Latin-1 in a state', body: latin1('{"spec":{"log":""},"status":{"state":"gr\xf6\xdfe"}}') },
    { name: 'Latin-1 in a name', body: latin1('{"spec":{"log":"","gr\xf6\xdfe":1}}') },
    { name: 'a log of nothing but wrong bytes', body: latin1(`{"spec":{"log":"${'\xff\x80'.repeat(100)}"}}`) },
  ]),
  ...Object.entries({
    truncated: json('a record and that it was cut', { ...own, truncated: true }),
    nextPageToken: json('a record and a token of the next page', { ...own, nextPageToken: 'eyJ2Ijoi' }),
    next: json('a record and the address of the next page', { ...own, next: 'https://service.example/v1?page=2' }),
    'spec.truncated': json('a log that was cut', { spec: { ...own.spec, truncated: true } }),
    'status.is_truncated': json('a state and that the log was cut', {
      ...own,
      status: { state: '', is_truncated: true },
    }),
    'metadata.continue': json('a record of several', { metadata: { continue: 'eyJ2Ijoi' }, ...own }),
  }).flatMap(([name, entry]) => all(`it says that there is more: ${name}`, [entry])),
  ...all('its media type is multipart/mixed, of several documents in one body', [
    ...under('multipart/mixed; boundary=x', [json('a record as one of several parts', own)]),
  ]),
  {
    name: 'two doubts at once',
    body: latin1('{"error":"x","spec":{"log":"\xff"}}'),
    says: 'it has error beside metadata, spec and status; it has bytes that are not UTF-8',
  },
];
