import { json, type TableEntry, uid } from './table-entry';

const own = { spec: { clusterUid: uid, log: 'a' } };
const record = JSON.stringify(own);
const withByte = (text: string) => Buffer.from(text.replace('~', '\xff'), 'latin1');

/** Bodies that are no log record of the cluster: refused. */
export const wrongLogs: readonly TableEntry[] = [
  json('a status with code and message', { status: { code: 401, message: 'token expired' } }),
  json('a status with an error', { status: { error: 'token expired' } }),
  json('a status that says that it failed', { metadata: {}, status: { success: false } }),
  json('metadata beside an error', { metadata: {}, error: 'not found' }),
  json('metadata of a record beside an error', { metadata: { name: 'log-fetcher', uid: '1' }, error: { code: 5 } }),
  json('a status beside an error', { status: {}, error: { code: 404, message: 'no' } }),
  json('a spec beside errors', { spec: {}, errors: ['no'] }),
  json('metadata beside a code', { metadata: {}, code: 'InternalError' }),
  json('metadata beside a message', { metadata: { requestId: '1' }, message: 'Forbidden' }),
  json('metadata beside a numeric status code', { metadata: {}, statusCode: 500 }),
  json('an error of this service, perhaps', { code: 'Unauthorized', message: 'token expired' }),
  json('a Kubernetes Status', { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 401 }),
  json('a Kubernetes Status without its status', { kind: 'Status', apiVersion: 'v1', metadata: {}, message: 'no' }),
  json('a Kubernetes Pod', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', uid: '1', creationTimestamp: '2026-11-20T10:00:00Z', labels: {} },
    spec: { containers: [] },
    status: { phase: 'Running' },
  }),
  json('a Kubernetes Node', { apiVersion: 'v1', kind: 'Node', metadata: {}, spec: {}, status: { conditions: [] } }),
  json('a Kubernetes List', { apiVersion: 'v1', kind: 'List', metadata: {}, items: [] }),
  json('an AWS error', { __type: 'AccessDeniedException', message: 'no' }),
  json('a GraphQL error', { data: null, errors: [{ message: 'no' }] }),
  json('an OAuth error', { error: 'invalid_token', error_description: 'expired' }),
  json('problem details', { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'no' }),
  json('Spring', { timestamp: '2026-11-20T10:00:00Z', status: 500, error: 'no', path: '/v1' }),
  json('an envelope around a record', { code: 0, data: own }),
  json('sections that are null', { metadata: null, spec: null, status: null }),
  { name: 'a byte order mark alone', body: '\ufeff' },
  { name: 'spaces', body: ' \n' },
  { name: 'an HTML page', body: '<!DOCTYPE html><title>Sign in</title>' },
  { name: 'an error in XML', body: '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>' },
  { name: 'a text', body: 'Unauthorized' },
  json('a record of another cluster whose log is not its own either', { spec: { log: 'a', clusterUid: '' } }),
  { name: 'two byte order marks', body: `\ufeff\ufeff${record}` },
  { name: 'a byte order mark behind the record', body: `${record}\ufeff` },
  { name: 'a byte that is not UTF-8 in a state', body: withByte('{"spec":{"log":""},"status":{"state":"~"}}') },
  { name: 'a byte that is not UTF-8 in the uid', body: withByte('{"spec":{"clusterUid":"cluster-1~","log":""}}') },
  { name: 'a byte that is not UTF-8 in an unknown member', body: withByte('{"spec":{"log":"","x":"~"}}') },
  { name: 'a byte that is not UTF-8 in a name', body: withByte('{"spec":{"log":"","~":1}}') },
  { name: 'a byte that is not UTF-8 in another log', body: withByte('{"spec":{"log":""},"x":{"log":"~"}}') },
  { name: 'a byte that is not UTF-8 in an escape', body: withByte('{"spec":{"log":"\\~"}}') },
  { name: 'a byte that is not UTF-8 between the members', body: withByte('{"spec":{"log":""}~}') },
  { name: 'a byte that is not UTF-8 behind the log', body: withByte('{"spec":{"log":""~}}') },
];
