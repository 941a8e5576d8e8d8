import { all, bodies, json, type TableEntry, uid, under } from './table-entry';

const own = { spec: { clusterUid: uid, log: 'a' } };
const record = JSON.stringify(own);
const withByte = (text: string) => Buffer.from(text.replace('~', '\xff'), 'latin1');

const notARecord = (sign: string, entries: readonly TableEntry[]) =>
  all(`The body is not a log record: it has ${sign}, and none of spec.clusterUid, spec.log, status.state`, entries);
const noSection = (members: string, ...entries: readonly TableEntry[]) =>
  all(`The body is ${members}, expected metadata, spec or status`, entries);
const noJson = (problem: string, ...entries: readonly TableEntry[]) =>
  all(`The log record is not acceptable JSON: ${problem}`, entries);

/** A member with a wrong type: path, body, what was found, what is expected, offset. */
const types: readonly [string, string, string, string, number][] = [
  ['metadata', '{"metadata":[]}', 'an array', 'an object', 12],
  ['spec', '{"spec":"x"}', 'a string', 'an object', 8],
  ['status', '{"status":false}', 'false', 'an object', 10],
  ['metadata.annotations', '{"metadata":{"annotations":[]}}', 'an array', 'an object', 27],
  ['metadata.labels', '{"metadata":{"labels":"a"}}', 'a string', 'an object', 22],
  ['metadata.creationTimestamp', '{"metadata":{"creationTimestamp":1}}', 'a number', 'a string', 33],
  ['metadata.deletionTimestamp', '{"metadata":{"deletionTimestamp":1}}', 'a number', 'a string', 33],
  ['metadata.lastModifiedTimestamp', '{"metadata":{"lastModifiedTimestamp":{}}}', 'an object', 'a string', 37],
  ['metadata.name', '{"metadata":{"name":true}}', 'true', 'a string', 20],
  ['metadata.uid', '{"metadata":{"uid":7}}', 'a number', 'a string', 19],
  ['spec.clusterUid', '{"spec":{"clusterUid":["cluster-1"]}}', 'an array', 'a string', 22],
  ['spec.log', '{"spec":{"log":{}}}', 'an object', 'a string', 15],
  ['status.state', '{"status":{"state":0}}', 'a number', 'a string', 19],
];

/** A member of the contract that occurs twice: path, body, offset. */
const repeated: readonly [string, string, number][] = [
  ['spec', '{"spec":{},"status":{},"spec":{}}', 30],
  ['spec', '{"spec":null,"spec":{}}', 20],
  ['spec', '{"spec":{},"\\u0073pe\\u0063":{}}', 28],
  ['spec.clusterUid', '{"spec":{"clusterUid":"cluster-1","clusterUid":"cluster-1"}}', 47],
  ['spec.log', '{"spec":{"log":"a","l\\u006fg":"b"}}', 30],
  ['metadata.name', '{"metadata":{"name":null,"name":"a"}}', 32],
  ['status.state', '{"status":{"state":"a","state":"a"}}', 31],
];

const another = (shown: string) =>
  `The log record belongs to another cluster: spec.clusterUid is ${shown} (at byte 22), expected "cluster-1"`;

/** Bodies that are not a log record of the cluster: refused. */
export const wrongLogs: readonly TableEntry[] = [
  ...notARecord('status.code', [
    json('a status with code and message', { status: { code: 401, message: 'token expired' } }),
  ]),
  ...notARecord('status.error', [json('a status with an error', { status: { error: 'token expired' } })]),
  ...notARecord('status.success', [
    json('a status that says that it failed', { metadata: {}, status: { success: false } }),
  ]),
  ...notARecord('error', [
    json('metadata beside an error', { metadata: {}, error: 'not found' }),
    json('metadata of a record beside an error', { metadata: { name: 'log-fetcher', uid: '1' }, error: { code: 5 } }),
    json('a status beside an error', { status: {}, error: { code: 404, message: 'no' } }),
  ]),
  ...notARecord('errors', [json('a spec beside errors', { spec: {}, errors: ['no'] })]),
  ...notARecord('code', [json('metadata beside a code', { metadata: {}, code: 'InternalError' })]),
  ...notARecord('message', [
    json('metadata beside a message', { metadata: { requestId: '1' }, message: 'Forbidden' }),
    json('a Kubernetes Status without its status', { kind: 'Status', apiVersion: 'v1', metadata: {}, message: 'no' }),
  ]),
  ...notARecord('statusCode', [json('metadata beside a numeric status code', { metadata: {}, statusCode: 500 })]),
  ...notARecord('apiVersion and kind', [
    json('a Kubernetes Pod', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', uid: '1', creationTimestamp: '2026-11-20T10:00:00Z', labels: {} },
      spec: { containers: [] },
      status: { phase: 'Running' },
    }),
    json('a Kubernetes Node', { apiVersion: 'v1', kind: 'Node', metadata: {}, spec: {}, status: { conditions: [] } }),
    json('a Kubernetes List', { apiVersion: 'v1', kind: 'List', metadata: {}, items: [] }),
  ]),
  ...noSection(
    'a JSON object with members code, message',
    json('an error of this service, perhaps', { code: 'Unauthorized', message: 'token expired' }),
  ),
  ...noSection(
    'a JSON object with members __type, message',
    json('an AWS error', { __type: 'AccessDeniedException', message: 'no' }),
  ),
  ...noSection(
    'a JSON object with members data, errors',
    json('a GraphQL error', { data: null, errors: [{ message: 'no' }] }),
  ),
  ...noSection(
    'a JSON object with members error, error_description',
    json('an OAuth error', { error: 'invalid_token', error_description: 'expired' }),
  ),
  ...noSection('a JSON object with members code, data', json('an envelope around a record', { code: 0, data: own })),
  ...noSection(
    'a JSON object with members metadata, spec, status',
    json('sections that are null', { metadata: null, spec: null, status: null }),
  ),
  ...noSection('an empty JSON object', json('an empty object', {})),
  ...noSection(`a JSON object with members a, b, ${'c'.repeat(40)}…, d, \\n, …`, {
    name: 'an object of six members, one with a long name',
    body: `{"a":1,"b":1,"${'c'.repeat(41)}":1,"d":1,"\\n":1,"f":1}`,
  }),
  ...types.map(([path, body, found, expected, at]) => ({
    name: `a wrong type of ${path}`,
    body,
    says: `The log record's ${path} is ${found}, expected ${expected} (at byte ${at})`,
  })),
  ...all("The log record's status is a string, expected an object (at byte 58)", [
    json('a Kubernetes Status', { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 401 }),
  ]),
  ...all("The log record's status is a number, expected an object (at byte 51)", [
    json('problem details', { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'no' }),
  ]),
  ...all("The log record's status is a number, expected an object (at byte 45)", [
    json('Spring', { timestamp: '2026-11-20T10:00:00Z', status: 500, error: 'no', path: '/v1' }),
  ]),
  ...repeated.map(([path, body, at]) => ({
    name: `a second ${path}: ${body}`,
    body,
    says: `The log record has ${path} twice (at byte ${at})`,
  })),
  ...all(another('"cluster-2"'), bodies(['{"spec":{"clusterUid":"cluster-2"}}'])),
  ...all(another('""'), bodies(['{"spec":{"clusterUid":""}}'])),
  ...all(another('"cluster-10"'), bodies(['{"spec":{"clusterUid":"cluster-10"}}'])),
  ...all(another('"cluster-"'), bodies(['{"spec":{"clusterUid":"cluster-"}}'])),
  ...all(another(`"${'x'.repeat(80)}"…`), bodies([`{"spec":{"clusterUid":"${'x'.repeat(5000)}"}}`])),
  ...Object.entries({ '[]': 'an array', '"text"': 'a string', '1': 'a number', true: 'true', null: 'null' }).map(
    ([body, what]) => ({ name: what, body, says: `The log record is ${what}, expected an object` }),
  ),
  { name: 'nothing', body: '', says: 'The log record is empty' },
  { name: 'a byte order mark alone', body: '\ufeff', says: 'The log record is cut short: unexpected end at byte 3' },
  { name: 'spaces', body: ' \n', says: 'The log record is cut short: unexpected end at byte 2' },
  ...noJson('unexpected "<" at byte 0', {
    name: 'an error in XML',
    body: '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
  }),
  ...all('The log record is an HTML page, perhaps a login page; check service.baseUrl', [
    { name: 'an HTML page', body: '<!DOCTYPE html><title>Sign in</title>' },
    { name: 'a page behind white space and a comment', body: '\r\n <!-- gateway -->\n<HTML><BODY>no</BODY></HTML>' },
    { name: 'a page behind a non-breaking space', body: '\u00a0<html>' },
    { name: 'a page in UTF-16', body: Buffer.from('\ufeff<html><body>no</body></html>', 'utf16le') },
    { name: 'a page of 20 KB', body: `<html>${'<p>no</p>'.repeat(2000)}</html>` },
    { name: 'a redirect', body: '<meta http-equiv="refresh" content="0; url=https://sso.example/">' },
    { name: 'a form that a script sends', body: '<body onload="document.forms[0].submit()"><form method="post">' },
    ...under('text/html', [{ name: 'an element of a page, as HTML', body: '<app-root></app-root>' }]),
  ]),
  ...all('The body is not a log record: it is an error document (application/problem+json)', [
    ...under('application/problem+json; charset=utf-8', [json('a record as problem details', own)]),
  ]),
  ...noJson('unexpected "d" at byte 0', ...under('text/event-stream', bodies([`data: ${record}\n\n`]))),
  ...all(
    'The log record is a number, expected an object',
    under('multipart/mixed; boundary=x', bodies([`--x\r\n\r\n${record}`])),
  ),
  ...noJson('unexpected 0x8c at byte 0', {
    name: 'a page behind a byte that is no mark of UTF-16',
    body: Buffer.from('\x8c<html>', 'latin1'),
  }),
  ...noJson('unexpected 0x00 at byte 0', { name: 'a record in UTF-32', body: Buffer.from('\u0000\u0000\u0000{') }),
  ...noJson('unexpected "U" at byte 0', { name: 'a text', body: 'Unauthorized' }),
  ...noJson('unexpected "}" at byte 11', { name: 'a brace too many', body: '{"spec":{}}}' }),
  ...noJson('unexpected 0x00 at byte 11', { name: 'a byte of value 0 behind the record', body: '{"spec":{}}\u0000' }),
  ...noJson('unexpected 0xef at byte 1', { name: 'a byte order mark behind a space', body: ' \ufeff{"spec":{}}' }),
  ...noJson('unexpected 0xef at byte 3', { name: 'two byte order marks', body: `\ufeff\ufeff${record}` }),
  ...noJson('unexpected 0xef at byte 45', { name: 'a byte order mark behind the record', body: `${record}\ufeff` }),
  ...all(another('"cluster-1\ufffd"'), [
    {
      name: 'a byte that is not UTF-8 in the uid',
      body: withByte('{"spec":{"clusterUid":"cluster-1~","log":""}}'),
    },
  ]),
  ...noJson('unexpected 0xff at byte 17', {
    name: 'a byte that is not UTF-8 in an escape',
    body: withByte('{"spec":{"log":"\\~"}}'),
  }),
  ...noJson('unexpected 0xff at byte 18', {
    name: 'a byte that is not UTF-8 between the members',
    body: withByte('{"spec":{"log":""}~}'),
  }),
  ...noJson('unexpected 0xff at byte 17', {
    name: 'a byte that is not UTF-8 behind the log',
    body: withByte('{"spec":{"log":""~}}'),
  }),
];
