import { all, json, type TableEntry } from './table-entry';

/** Contents that may be a manifest or something else: archived with a doubt. */
export const doubtfulManifests: readonly TableEntry[] = [
  ...all('it has bytes that are not UTF-8', [
    { name: 'Latin-1', body: Buffer.from('name: gr\xf6\xdfe\n', 'latin1') },
    { name: 'UTF-16', body: Buffer.from('\ufeffkind: Cluster\n', 'utf16le') },
    { name: 'gzip that nobody declares', body: Buffer.from('1f8b0800000000000003', 'hex') },
    { name: 'a character that its end cuts', body: Buffer.from('name: ä').subarray(0, -1) },
  ]),
  ...all('it is JSON that ends too early', [
    { name: 'JSON that ends too early', body: '{"apiVersion":"v1","kind":"Clu' },
    { name: 'an array that ends too early', body: '[{"kind":"A"},' },
    { name: 'a JSON string that ends too early', body: '"apiVersion: v1' },
  ]),
  ...all('it has the member errors', [
    json('a result with errors', { data: { cluster: {} }, errors: [{ message: 'partial' }] }),
    json('a GraphQL error with extensions', { errors: [{ message: 'no' }], extensions: { traceId: '1' } }),
  ]),
  ...all('it has the member message', [
    json('an envelope around a long text', { code: 0, message: 'success', data: 'a2luZDog'.repeat(600) }),
    json('an envelope around a list', { code: 0, message: 'success', data: ['no', 'kind: Cluster'] }),
    json('an envelope around an empty object', { code: 1, message: 'no', data: {} }),
  ]),
];
