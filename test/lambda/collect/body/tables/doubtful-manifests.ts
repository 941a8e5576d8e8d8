import { all, bodies, json, type TableEntry, under } from './table-entry';
import { inUtf32 } from './wrong-manifests';

const yaml = 'apiVersion: v1\nkind: Cluster\n';

/** Contents that may be a manifest or something else: archived with a doubt. */
export const doubtfulManifests: readonly TableEntry[] = [
  ...all('it has bytes that are not UTF-8', [
    { name: 'Latin-1', body: Buffer.from('name: gr\xf6\xdfe\n', 'latin1') },
    { name: 'a character that its end cuts', body: Buffer.from('name: ä').subarray(0, -1) },
  ]),
  ...all('it has bytes of value 0: it may be UTF-16, UTF-32 or not text', [
    { name: 'UTF-16 without a mark', body: Buffer.from(yaml, 'utf16le') },
    { name: 'UTF-16 without a mark, the larger byte first', body: Buffer.from(yaml, 'utf16le').swap16() },
    { name: 'UTF-32 without a mark', body: inUtf32(yaml) },
    { name: '4 KB of NULs', body: Buffer.alloc(4096) },
    { name: 'a NUL at the end', body: `${yaml}\0` },
    { name: 'a Status document in UTF-16', body: Buffer.from('apiVersion: v1\nkind: Status\n', 'utf16le') },
  ]),
  ...all('it has bytes that are not UTF-8; it has bytes of value 0: it may be UTF-16, UTF-32 or not text', [
    { name: 'gzip that nobody declares', body: Buffer.from('1f8b0800000000000003', 'hex') },
    { name: 'UTF-16', body: Buffer.from(`\ufeff${yaml}`, 'utf16le') },
  ]),
  ...all(
    'it has bytes of value 0: it may be UTF-16, UTF-32 or not text; its charset is utf-16le',
    under('text/plain; charset="UTF-16LE"', [{ name: 'UTF-16 that says so', body: Buffer.from(yaml, 'utf16le') }]),
  ),
  ...all(
    'it has bytes that are not UTF-8; its charset is iso-8859-1',
    under('text/plain;charset=ISO-8859-1', [{ name: 'Latin-1 that says so', body: Buffer.from('a: ö', 'latin1') }]),
  ),
  ...all(
    'its charset is windows-1252',
    under('application/yaml; charset=windows-1252', [{ name: 'UTF-8 that says that it is not', body: 'a: ö' }]),
  ),
  ...all('its charset is utf-16', under('text/plain; charset=utf-16', [{ name: 'ASCII as UTF-16', body: yaml }])),
  ...Object.entries({
    'metadata.continue': [
      json('the first page of a list', { apiVersion: 'v1', kind: 'List', metadata: { continue: 'eyJ2' }, items: [{}] }),
      {
        name: 'the same in YAML',
        body: 'apiVersion: v1\nitems:\n- kind: A\nkind: List\nmetadata:\n  continue: eyJ2\n',
      },
      {
        name: 'the same, with members before it',
        body: 'kind: A\nmetadata:\n\n    # of\n    name: b\n    continue: "c"',
      },
      { name: 'the same in flow style', body: 'kind: List\nmetadata: {resourceVersion: "7", continue: eyJ2}\n' },
      { name: 'the same in the second document', body: 'kind: A\n---\nmetadata:\r\n  continue: eyJ2\r\n' },
    ],
    nextPageToken: [
      json('a page of a search', { items: [{}], nextPageToken: 'CAo' }),
      { name: 'a page of a search in YAML', body: 'items:\n- a\nnextPageToken: CAo\n' },
    ],
    truncated: [
      json('a list that was cut', { items: [], truncated: true }),
      { name: 'a list that was cut, in YAML', body: 'truncated: true\nitems: []\n' },
    ],
    'pageInfo.hasNextPage': [json('a page of GraphQL', { nodes: [{}], pageInfo: { hasNextPage: true } })],
    IsTruncated: [json('a page of S3', { IsTruncated: true, Contents: [] })],
    '@odata.nextLink': [json('a page of OData', { value: [], '@odata.nextLink': 'https://a.example/?$skip=9' })],
    next: [json('a page of Django', { count: 9, next: 'https://a.example/?page=2', results: [] })],
    'links.next': [json('a page of JSON:API', { data: [], links: { next: '/a?page=2' } })],
  } satisfies Record<string, TableEntry[]>).flatMap(([name, pages]) =>
    all(`it says that there is more: ${name}`, pages),
  ),
  ...all('one of its documents is of kind Status', [
    { name: 'a Status document among others', body: 'kind: A\n---\napiVersion: v1\nkind: Status\n---\nkind: B\n' },
  ]),
  ...['text/event-stream', 'multipart/mixed'].flatMap((type) =>
    all(
      `its media type is ${type}, of several documents in one body`,
      under(`${type}; a=b`, bodies([`data: ${type}\n\n`])),
    ),
  ),
  ...['meta', 'script', 'form', 'body', 'a', 'pre', 'noscript', 'br', 'div'].flatMap((tag) =>
    all(`it begins like an HTML page, with the tag ${tag}`, bodies([`\n<!-- a --><${tag} b="c">`])),
  ),
  ...all(
    'it begins like an HTML page, with the tag virtualhost',
    under('text/html', [{ name: 'a configuration of Apache, as HTML', body: '<VirtualHost *:80>\n</VirtualHost>\n' }]),
  ),
  ...all(
    'it begins like an HTML page, with the tag network',
    under('text/html', [{ name: 'XML that does not say so, as HTML', body: '<network><name>a</name></network>' }]),
  ),
  ...all('it begins like an HTML page, with the tag p', bodies(['<P>no</P>', '<p/>'])),
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
