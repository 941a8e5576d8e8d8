import { bodies, json, type TableEntry, whole } from './table-entry';

const page = '<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>';
const s3Error = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>gone</Message></Error>';
const indented = (text: string) => text.replace(/^/gm, '    ');

/** Contents that may well be a manifest: archived without a doubt. */
export const rightManifests: readonly TableEntry[] = [
  { name: 'YAML', body: 'apiVersion: v1\nkind: Cluster\nmetadata:\n  name: "größe"\n' },
  { name: 'YAML with a byte order mark', body: '\ufeffapiVersion: v1\nkind: Cluster\n' },
  { name: 'YAML of comments alone', body: '# This cluster has no resources.\n' },
  { name: 'YAML in flow style', body: '{apiVersion: v1, kind: Cluster, items: []}' },
  { name: 'an error in YAML flow style', body: '{code: Unauthorized, message: x, kind: Cluster}' },
  { name: 'a YAML list in flow style', body: '[a, b]' },
  { name: 'YAML with a quoted first key', body: '"kind": Cluster\n"spec": {"a": 1}\n' },
  { name: 'YAML with errors among its members', body: 'apiVersion: v1\nerror: none\nmessage: hello\n' },
  { name: 'a template that is one call', body: '{{ include "chart.manifest" . }}' },
  { name: 'a ConfigMap with an HTML page', body: `kind: ConfigMap\ndata:\n  404.html: |\n${indented(page)}\n` },
  { name: 'a ConfigMap with an error in XML', body: `kind: ConfigMap\ndata:\n  e.xml: |\n${indented(s3Error)}\n` },
  {
    name: 'a ConfigMap with an error in JSON',
    body: 'kind: ConfigMap\ndata:\n  e: \'{"code":"Unauthorized","message":"x"}\'\n',
  },
  {
    name: 'a text that speaks of an error, in two lines',
    body: 'The service has no error.\nIt was not found to fail.\n',
  },
  { name: 'a template of a page', body: 'kind: Page\nbody: <html></html>\n' },
  { name: 'a comment before a text that speaks of HTML', body: '<!-- <html> --> manifest: 1' },
  { name: 'other scripts', body: '名前: クラスタ\nاسم: عنقود\n😀: 1\n' },
  { name: 'a JSON string as text', body: '"apiVersion: v1\\nkind: Cluster\\n"' },
  json('what kubectl get -o json prints', { apiVersion: 'v1', kind: 'Pod', metadata: {}, status: { phase: 'Failed' } }),
  json('a container image manifest', { schemaVersion: 2, mediaType: 'application/json', config: {}, layers: [] }),
  json('a JSON object with a code and a status', { name: 'prod', code: 'EU1', status: 'failed', nodes: [] }),
  json('a JSON object without an error', { error: null, errors: null, manifest: 'kind: A' }),
  json('a JSON object with a status in words', { title: 'manifest', status: 'ready', path: '/a' }),
  json('a JSON array', [{ apiVersion: 'v1', kind: 'A' }, { apiVersion: 'v1' }]),
  json('a JSON object with a byte of every kind', { 'a\u0001"\\': '\u007f\u0080€😀' }),
  whole('indented JSON', JSON.stringify({ apiVersion: 'v1', kind: 'A', a: { b: [1, 2, { c: null }] } }, undefined, 2)),
  whole('JSON with a byte order mark', '\ufeff{"apiVersion":"v1","kind":"A"}'),
  { name: 'JSON lines', body: '{"kind":"A","spec":1}\n{"kind":"B"}\n' },
  { name: 'JSON with a comment', body: '// manifest\n{"kind":"A"}' },
  { name: 'JSON with a comma too many', body: '{"error":"x",}' },
  { name: 'XML', body: '<?xml version="1.0"?>\n<manifest><cluster uid="a"/></manifest>\n' },
  ...bodies([
    '# <html>\n',
    '<header>',
    '<htmlx>',
    '<!doctype htmlx>',
    '<head xmlns="urn:a"><title>',
    '<!-- <html> -->',
    '<!-- <html>',
    '<!---->x<html>',
    '< html>',
    '<<: *base',
    '<body/>',
    '<?xml version="1.0"?><manifest><html/></manifest>',
  ]),
  {
    name: 'XML that contains an HTML page',
    body: `<?xml version="1.0"?><manifest>${page.replace(/<!.*>/, '')}</manifest>`,
  },
  { name: 'declared XML with the root head', body: '<?xml version="1.0"?><head><title>a</title></head>' },
  { name: 'declared XML with the root title', body: '<?xml version="1.0"?><!-- a --><title>a</title>' },
  { name: 'XML with a namespace and the root body', body: '<body xmlns="urn:fleet"><p>1</p></body>' },
  { name: 'an error in XML, which no rule knows', body: s3Error },
  { name: 'a value that holds nothing', body: 'null\n' },
  { name: 'an error behind YAML', body: 'kind: A\nitems:\n{"error":{"code":13,"message":"internal"}}\n' },
];
