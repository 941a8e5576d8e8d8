import { all, bodies, json, type TableEntry } from './table-entry';

const problem = { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'No access.', instance: '/v1/a' };
const code = { code: 'Unauthorized', message: 'token expired' };

const signIn = '<html><head><title>Sign in</title></head></html>';

function errorDocument(name: string, value: object): TableEntry {
  const names = Object.keys(value);
  const members = [...names.slice(0, 5), ...(names.length > 5 ? ['…'] : [])].join(', ');
  return { ...json(name, value), says: `The manifest is an error document: a JSON object with members ${members}` };
}

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
  ...all('The manifest is an HTML page', [
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
  { name: 'nothing', body: '', says: 'The manifest is empty' },
  ...all('The manifest is nothing but whitespace', [
    { name: 'spaces and newlines', body: ' \t\r\n \n' },
    { name: 'a byte order mark and a newline', body: '\ufeff\n' },
    { name: '20 KB of spaces', body: ' '.repeat(20_000) },
    { name: '2,000 byte order marks', body: '\ufeff'.repeat(2000) },
  ]),
];
