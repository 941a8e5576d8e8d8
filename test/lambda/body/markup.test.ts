import { Markup } from '../../../lambda/body/markup';
import { bytewise } from '../../support/json-documents';

function markupOf(chunks: readonly Buffer[]): Markup {
  const markup = new Markup();
  for (const chunk of chunks) markup.write(chunk);
  return markup;
}

/** The verdict on content, which must not depend on where it is split. */
function judged(content: string) {
  const bytes = Buffer.from(content);
  const { verdict } = markupOf([bytes]);
  expect(markupOf(bytewise(bytes)).verdict).toEqual(verdict);
  return verdict;
}

describe('the verdict on markup', () => {
  it.each([
    '<!doctype html>',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">',
    '<!DOCTYPE\nhtml>',
    '<html lang="en">',
    '<HTML>',
    '<html',
    '<HEAD>\n<!-- a --><TITLE>',
    '<body\tclass="x"><h1>',
    '<title>',
    '<h6\n>',
    ' \r\n\t\f<html>',
    '\ufeff<html>',
    '\ufeff  <html>',
    '<!-- proxy error -->\n<!----><html>',
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>',
    '<?xml version="1.0"?><html>',
    `<!--${'x'.repeat(17_000)}--><html>`,
    `${' \t\r\n'.repeat(5000)}<html>`,
    '\v<html>',
    '\ufeff\ufeff<html>',
    `${'\ufeff'.repeat(6000)}<!-- a -->\ufeff<html>`,
    '\u00a0<html>',
    `<!doctype${' '.repeat(17_000)}html>`,
    `<?a ${'?'.repeat(17_000)}?><html>`,
    `<!DOCTYPE a [${'<!ENTITY b "c">'.repeat(2000)}]><html>`,
    '<!--><html>',
    '<!doctypehtml>',
  ])('knows that %.40j is a page', (content) => {
    expect(judged(content)).toEqual({ what: 'an HTML page', isCertain: true });
  });

  it.each([
    '<head>',
    '<body\tclass="x">',
    '<body/>',
    '<BODY>text',
    '<head><p>',
    '<head><meta charset="utf-8">',
    '<head><node>',
    '<div>',
    '<p>',
    '<script>',
  ])('is not certain about %j', (content) => {
    expect(judged(content)).toEqual({ what: 'an HTML page', isCertain: false });
  });

  it.each([
    '<Error><Code>',
    '<Error>\n  <Message>',
    '<ErrorResponse a="b"><Error>',
    '<a:error xmlns:a="b"><a:code>',
    '<problem xmlns="urn:ietf:rfc:7807"><status>',
    '<errors/>',
  ])('knows that %j is an error', (content) => {
    expect(judged(content)).toEqual({ what: 'an error document in XML', isCertain: true });
    expect(judged(`<?xml version="1.0"?>\n${content}`)).toEqual(judged(content));
  });

  it.each([
    '<Response><Errors>',
    '<m>text<error>',
    '<Envelope><Header/><Body><Fault>',
    '<Envelope>\n<!-- a --><Body a="b"> <s:Fault>',
  ])('takes %j for an error, perhaps', (content) => {
    expect(judged(content)).toEqual({ what: 'an error document in XML', isCertain: false });
  });

  it.each([
    '',
    'apiVersion: v1\n',
    '# <html>\n',
    'a: <html>',
    '<header>',
    '<htmlx>',
    '<Head><title>',
    '<Title>',
    '<head xmlns="urn:a"><title>',
    '<?xml version="1.0"?><h1>',
    '<!doctype htmlx>',
    '<!doctype xml>',
    '<!doctype a [<!entity b "c">]><a>',
    '<?xml version="1.0"?><manifest><html/></manifest>',
    '<!-- <html> -->',
    '<!-- <html>',
    '<!---->x<html>',
    '< html>',
    '<!-',
    '<a:errorPolicy><code>',
    '<Response><Error-free>',
    '<Envelope><Body><a>Fault',
    '<m><n><o><q><error>',
    `${' '.repeat(17_000)}a: <html>`,
  ])('lets %.40j pass', (content) => {
    expect(judged(content)).toBeUndefined();
  });

  it.each([
    '<!---->',
    '<!--',
    '<a "',
    "<a '",
    '<?',
    '<!doctype a>',
    '<Envelope><Body',
    '<head><!---->',
  ])('stays quick on 16 KB of %s', (piece) => {
    const text = piece.repeat(Math.ceil(16_384 / piece.length));
    const begin = process.cpuUsage();
    const markup = markupOf([Buffer.from(text)]);
    expect(() => [markup.verdict, markup.isCutShort(text.slice(-256))]).not.toThrow();
    const { user, system } = process.cpuUsage(begin);
    // Microseconds; it takes a hundredth of it.
    expect(user + system).toBeLessThan(1_000_000);
  });
});

describe('isCutShort', () => {
  const cut = (text: string) => markupOf([Buffer.from(text)]).isCutShort(text.slice(-256));

  it.each([
    '<',
    '<manifest a="b"',
    '<!-- a > b',
    '<!doctype a [',
    '<?xml version="1.0"?>',
    '<?xml version="1.0"?><manifest>',
    '<?xml version="1.0"?><manifest><a/>',
    '<?xml version="1.0"?><manifest><a></a>\n',
    '<?xml version="1.0"?><manifest><a></a><!-- </manifest> -->',
    '<?xml version="1.0"?><a></a><!-- b -->',
  ])('finds %j', (text) => {
    expect(cut(text)).toBe(true);
  });

  it.each([
    '<?xml version="1.0"?><manifest/>\n',
    '<?xml version="1.0"?><manifest a="/"></manifest >',
    '<?xml version="1.0"?><a:b></a:b>\n',
    '<manifest>',
    'a < b',
    '<<: *base',
    '',
  ])('lets %.60j pass', (text) => {
    expect(cut(text)).toBe(false);
  });
});

it('skips megabytes before the first tag, and keeps none of them', () => {
  const markup = markupOf([Buffer.from('<!--')]);
  const chunk = Buffer.alloc(4096, '-');
  const begin = process.cpuUsage();
  for (let chunks = 0; chunks < 2000; chunks += 1) markup.write(chunk);
  markup.write(Buffer.from('><html>'));
  const { user, system } = process.cpuUsage(begin);
  expect(markup.verdict).toEqual({ what: 'an HTML page', isCertain: true });
  // Microseconds. What it kept, it would look at again with every chunk: that takes a hundred times as long.
  expect(user + system).toBeLessThan(2_000_000);
});

it.each(['>a', '->', '?>'])('does not take %j within a long comment for its end, where a chunk ends with it', (end) => {
  const chunks = [`<!--${'x'.repeat(2000)}${end}`, '<html>--><p>'];
  expect(markupOf(chunks.map((chunk) => Buffer.from(chunk))).verdict).toMatchObject({ isCertain: false });
});
