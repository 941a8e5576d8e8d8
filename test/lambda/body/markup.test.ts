import { beginningBytes, isXmlCutShort, judgeMarkup } from '../../../lambda/body/markup';

function judged(content: string) {
  return judgeMarkup(Buffer.from(content).subarray(0, beginningBytes).toString('latin1'));
}

describe('judgeMarkup', () => {
  it.each([
    '<!doctype html>',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">',
    '<!DOCTYPE\nhtml>',
    '<html lang="en">',
    '<HTML>',
    '<html',
    '<head><meta charset="utf-8">',
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
    `<!--${'x'.repeat(16_000)}--><html>`,
  ])('knows that %.40j is a page', (content) => {
    expect(judged(content)).toEqual({ what: 'an HTML page', isCertain: true });
  });

  it.each([
    '<head>',
    '<body\tclass="x">',
    '<body/>',
    '<BODY>text',
    '<head><p>',
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
    '<Response><Errors>',
    '<Envelope><Header/><Body><Fault>',
  ])('knows that %j is an error', (content) => {
    expect(judged(content)).toEqual({ what: 'an error document in XML', isCertain: true });
    expect(judged(`<?xml version="1.0"?>\n${content}`)).toEqual(judged(content));
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
    '<head><node>',
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
    '\u00a0<html>',
    `${' '.repeat(16_384)}<html>`,
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
    const text = piece.repeat(Math.ceil(beginningBytes / piece.length));
    const begin = process.cpuUsage();
    judged(text);
    isXmlCutShort(text, text.slice(-256));
    const { user, system } = process.cpuUsage(begin);
    // Microseconds; it takes a hundredth of it.
    expect(user + system).toBeLessThan(1_000_000);
  });
});

describe('isXmlCutShort', () => {
  const cut = (text: string) => isXmlCutShort(text, text.slice(-256));

  it.each([
    '<',
    '<manifest a="b"',
    '<?xml version="1.0"?>',
    '<?xml version="1.0"?><manifest>',
    '<?xml version="1.0"?><manifest><a/>',
    '<?xml version="1.0"?><manifest><a></a>\n',
    '<?xml version="1.0"?><manifest><a></a><!-- </manifest> -->',
  ])('finds %j', (text) => {
    expect(cut(text)).toBe(true);
  });

  it.each([
    '<?xml version="1.0"?><manifest/>\n',
    '<?xml version="1.0"?><manifest a="/"></manifest >',
    '<?xml version="1.0"?><a:b></a:b><!-- c --><?d?>\n',
    `<?xml version="1.0"?><a></a><!--${'x'.repeat(300)}-->`,
    '<manifest>',
    'a < b',
    '<<: *base',
    '',
  ])('lets %.60j pass', (text) => {
    expect(cut(text)).toBe(false);
  });
});
