import { all, bodies, json, type TableEntry, under } from './table-entry';

const problem = { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'No access.', instance: '/v1/a' };
const code = { code: 'Unauthorized', message: 'token expired' };

const signIn = '<html><head><title>Sign in</title></head></html>';

function errorDocument(name: string, value: object): TableEntry {
  const names = Object.keys(value);
  const members = [...names.slice(0, 5), ...(names.length > 5 ? ['…'] : [])].join(', ');
  return { ...json(name, value), says: `The manifest is an error document: a JSON object with members ${members}` };
}

/** A text of ASCII in UTF-32, the largest byte first. */
export const inUtf32 = (text: string) =>
  Buffer.concat([...Buffer.from(text)].map((byte) => Buffer.from([0, 0, 0, byte])));

const problemOf = (type: string) =>
  type.endsWith('json')
    ? '"no access"'
    : '<?xml version="1.0"?><problem xmlns="urn:ietf:rfc:7807"><status>403</status></problem>';

/** Contents that are an error, or nothing: refused under every media type. */
export const wrongManifests: readonly TableEntry[] = [
  ...all('The manifest is an error document: a JSON object with members code, message', [
    json('an error of this service, perhaps', code),
    { name: 'the same with a byte order mark', body: `\ufeff${JSON.stringify(code)}` },
    { name: 'the same after whitespace', body: `\r\n  ${JSON.stringify(code, undefined, 2)}\n` },
    { name: 'the same with text behind it', body: `${JSON.stringify(code)}\n<!-- trace 7f -->` },
    { name: 'the same with the end of a chunked body behind it', body: `${JSON.stringify(code)}0\r\n\r\n` },
    { name: 'the same twice', body: JSON.stringify(code).repeat(2) },
    { name: 'the same behind a vertical tab', body: `\v${JSON.stringify(code)}` },
  ]),
  errorDocument('API Gateway', { message: 'Missing Authentication Token' }),
  errorDocument('a Kubernetes Status', {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  }),
  errorDocument('a GraphQL error', { errors: [{ message: 'no', path: ['cluster'] }], data: null }),
  errorDocument('an OAuth error', {
    error: 'invalid_token',
    error_description: 'expired',
    error_uri: 'https://a.example',
  }),
  errorDocument('FastAPI and Django', { detail: 'Not found.' }),
  errorDocument('gRPC gateway', { code: 5, message: 'not found', details: [] }),
  errorDocument('Cloudflare', { success: false, errors: [{ code: 1000 }], messages: [], result: null }),
  errorDocument('Lambda with a trace', { errorMessage: 'Task timed out', stackTrace: ['  File "a.py", line 1'] }),
  errorDocument('AWS in JSON', { __type: 'com.amazon.coral.service#AccessDeniedException', Message: 'no' }),
  errorDocument('problem details', problem),
  errorDocument('a failure without words', { success: false }),
  errorDocument('an envelope around a short text', { code: 1, message: 'no', data: 'apiVersion: v1' }),
  errorDocument('an envelope that holds nothing', { code: 1, message: 'no', data: null }),
  ...all('The manifest is an HTML page, perhaps a login page; check service.baseUrl', [
    { name: 'an HTML page', body: '<!DOCTYPE html>\n<html lang="en"><head><title>Sign in</title></head></html>' },
    { name: 'an HTML page in capital letters', body: '<HTML><BODY>Service Unavailable</BODY></HTML>' },
    { name: 'an XHTML page', body: '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head/></html>' },
    { name: 'a page after a comment', body: '<!-- proxy -->\n<html>' },
    { name: 'a page that begins with its title', body: '<title>404 Not Found</title>\n<h1>Not Found</h1>' },
    { name: 'a page that begins with center', body: '<center><h1>503 Service Temporarily Unavailable</h1></center>' },
    { name: 'a page that begins with h1', body: '<h1>Unauthorized</h1>' },
    { name: 'IIS', body: '<head><title>Document Moved</title></head>\n<body><h1>Object Moved</h1></body>' },
    { name: 'a page that begins with its body', body: '<body bgcolor="white"><center>503</center></body>' },
    { name: 'a page behind 17 KB of spaces', body: `${' '.repeat(17_000)}${signIn}` },
    { name: 'a page behind six thousand byte order marks', body: `${'\ufeff'.repeat(6000)}<!-- a -->\ufeff<html>` },
    { name: 'a page behind a hundred comments', body: `${'<!-- build 7f -->\n'.repeat(100)}${signIn}` },
    { name: 'a page behind a vertical tab', body: `\v${signIn}` },
    { name: 'a page behind a non-breaking space', body: `\u00a0${signIn}` },
    ...bodies([
      '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">',
      '<!DOCTYPE\nhtml>',
      '<!doctypehtml>',
      '<html',
      '<h6\n>',
      ' \r\n\t\f<html>',
      '<!-- proxy error -->\n<!----><html>',
      '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>',
      '<!--><html>',
    ]),
  ]),
  ...all('The manifest is an HTML page, perhaps a login page; check service.baseUrl', [
    { name: 'a page in UTF-16', body: Buffer.from(`\ufeff${signIn}`, 'utf16le') },
    { name: 'a page in UTF-16 without a mark', body: Buffer.from(` ${signIn}`, 'utf16le') },
    { name: 'a page in UTF-32', body: inUtf32(signIn) },
    // What gateways answer in place of the service, without an html tag.
    ...under('text/html; charset=UTF-8', [
      { name: 'a redirect', body: '<meta http-equiv="refresh" content="0; url=https://sso.example/login?next=%2Fv1">' },
      { name: 'a redirect by script', body: '\n<script>location.href = "/login"</script>' },
      {
        name: 'a SAML form that a script sends',
        body: '<body onload="document.forms[0].submit()"><form method="post" action="https://idp.example/sso"></form></body>',
      },
      {
        name: 'a SAML form',
        body: '<form method="post" action="https://idp.example/sso"><input name="SAMLRequest"></form>',
      },
      { name: 'a link', body: '<a href="https://service.example/login">Found</a>.\n\n' },
      { name: "a router's error", body: '<pre>Cannot GET /v1/platformclusters/a/assets/manifest</pre>' },
      { name: 'an application without JavaScript', body: '<noscript>You need to enable JavaScript.</noscript>' },
      { name: "an interpreter's error", body: '<br />\n<b>Fatal error</b>:  Uncaught Error in <b>/srv/a.php</b>' },
      { name: 'a part of a page', body: '<div class="error">Session expired</div>' },
      { name: 'a form in capital letters', body: '<FORM ACTION="/login">' },
      { name: 'an element of an application', body: '<app-root></app-root>' },
      { name: 'a page in UTF-16 that says so', body: Buffer.from('<p>no</p>', 'utf16le') },
    ]),
    ...under('application/xhtml+xml', bodies(['<body></body>'])),
  ]),
  ...all('The manifest is an error document: YAML of kind Status', [
    {
      name: 'a Kubernetes Status in YAML',
      body: 'apiVersion: v1\nkind: Status\nmetadata: {}\nstatus: Failure\nreason: ServiceUnavailable\ncode: 503\n',
    },
    {
      name: 'the same in another order, with quotes and CRLF',
      body: '---\r\n# no\r\n"kind": "Status" # of the server\r\nmetadata: {}\r\n\r\napiVersion: v1\r\n...\r\n---\r\n',
    },
    { name: 'the same without an end of its last line', body: '\ufeff\nkind:   Status\nmessage: no\napiVersion: v1' },
  ]),
  ...['application/problem+json', 'application/problem+xml'].flatMap((type) =>
    all(`The manifest is an error document (${type})`, under(`${type}; charset=utf-8`, bodies([problemOf(type)]))),
  ),
  ...all('The manifest is in the framing of aws-chunked, which is not part of it', [
    { name: 'a signed piece of an upload', body: `b;chunk-signature=${'0f'.repeat(32)}\r\nkind: A\nb: 1\r\n` },
  ]),
  { name: 'nothing', body: '', says: 'The manifest is empty' },
  ...all('The manifest is nothing but whitespace', [
    { name: 'spaces and newlines', body: ' \t\r\n \n' },
    { name: 'a byte order mark and a newline', body: '\ufeff\n' },
    { name: '20 KB of spaces', body: ' '.repeat(20_000) },
    { name: '2,000 byte order marks', body: '\ufeff'.repeat(2000) },
  ]),
];
