import { Markup } from '../../../lambda/body/markup';

function markupOf(chunks: readonly Buffer[]): Markup {
  const markup = new Markup();
  for (const chunk of chunks) markup.write(chunk);
  return markup;
}

/** What it finds is in the tables of manifests. */
describe('markup', () => {
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

it('skips megabytes before the first tag, and keeps none of them', () => {
  const markup = markupOf([Buffer.from('<!--')]);
  const chunk = Buffer.alloc(4096, '-');
  const begin = process.cpuUsage();
  for (let chunks = 0; chunks < 2000; chunks += 1) markup.write(chunk);
  markup.write(Buffer.from('><html>'));
  const { user, system } = process.cpuUsage(begin);
  expect(markup.verdict).toEqual({ refusal: 'an HTML page' });
  // Microseconds. What it kept, it would look at again with every chunk: that takes a hundred times as long.
  expect(user + system).toBeLessThan(2_000_000);
});

it.each(['>a', '->', '?>'])('does not take %j within a long comment for its end, where a chunk ends with it', (end) => {
  const chunks = [`<!--${'x'.repeat(2000)}${end}`, '<html>--><p>'];
  expect(markupOf(chunks.map((chunk) => Buffer.from(chunk))).verdict).toEqual({ doubt: 'it begins like an HTML page' });
});
