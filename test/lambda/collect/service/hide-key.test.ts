import fc from 'fast-check';
import { hideKey } from '../../../../lambda/collect/service/hide-key';

const hidden = '[the API key]';
const key = 'Key-"1f\\7c/<3a>&%\'z';

const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const named: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };
const html = (text: string) => text.replace(/[&<>"']/g, (character) => `&${named[character]};`);
const decimal = (text: string) => [...text].map((c) => `&#${c.charCodeAt(0)};`).join('');
const hexadecimal = (text: string) => [...text].map((c) => `&#x${c.charCodeAt(0).toString(16)};`).join('');
const unicode = (text: string) => [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe('the key in a text of the service', () => {
  it.each<[string, string]>([
    ['in lower case', key.toLowerCase()],
    ['quoted as JSON', JSON.stringify(key).slice(1, -1)],
    ['quoted as JSON, in upper case', JSON.stringify(key).slice(1, -1).toUpperCase()],
    ['percent-encoded, lower case', encodeURIComponent(key).toLowerCase()],
    ['percent-encoded byte by byte, upper case', percent(key).toUpperCase()],
    ['as escapes of JSON, upper case', unicode(key).toUpperCase().replaceAll('\\U', '\\u')],
    ['escaped for HTML', html(key)],
    ['escaped for HTML, in upper case', html(key).toUpperCase()],
    ['as numbers of HTML', decimal(key)],
    ['as numbers of HTML with zeros', decimal(key).replaceAll('&#', '&#00')],
    ['as hexadecimal numbers of HTML', hexadecimal(key)],
    ['as hexadecimal numbers of HTML, in upper case', hexadecimal(key).toUpperCase()],
    ['cut after eight characters, as numbers of HTML', decimal(key.slice(0, 8))],
    ['mixed', `${percent(key.slice(0, 4))}${key.slice(4)}`],
    ['cut after eight characters', key.slice(0, 8)],
    ['cut after eight characters, percent-encoded', percent(key.slice(0, 8))],
  ])('is hidden %s', (_how, spelt) => {
    expect(hideKey(spelt, key)).toBe(hidden);
    expect(hideKey(`a ${spelt}, ${spelt} z`, key)).toBe(`a ${hidden}, ${hidden} z`);
  });

  it.each([
    ['with two backslashes', 'abc\\\\defgh'],
    ['that reads like a percent-encoded one', 'abc%25%2525def'],
    ['that reads like one escaped for HTML', 'abc&amp;&#38;def'],
    ['that reads like one escaped as JSON', 'abc\\u005c\\u005cdef'],
  ])('is hidden however it is spelt, of a key %s', (_how, ambiguous) => {
    const spelt = [
      ambiguous,
      JSON.stringify(ambiguous).slice(1, -1),
      encodeURIComponent(ambiguous),
      unicode(ambiguous),
      html(ambiguous),
      decimal(ambiguous),
    ];
    expect(spelt.map((one) => hideKey(`a ${one} z`, ambiguous))).toEqual(spelt.map(() => `a ${hidden} z`));
  });

  it('is hidden wherever it stands, whatever it is, and nothing else is', () => {
    const anyKey = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
      minLength: 9,
    });
    const spelling = fc.constantFrom(
      (text: string) => text,
      encodeURIComponent,
      percent,
      unicode,
      html,
      decimal,
      hexadecimal,
      (text: string) => text.toUpperCase(),
    );
    fc.assert(
      fc.property(anyKey, spelling, fc.string(), fc.string(), (secret, spell, before, after) => {
        fc.pre(hideKey(before, secret) === before && hideKey(after, secret) === after);
        expect(hideKey(`${before}\n${spell(secret)}\n${after}`, secret)).toBe(`${before}\n${hidden}\n${after}`);
      }),
    );
  });

  it('is not seen in seven of its characters', () => {
    expect(hideKey(key.slice(0, 7), key)).toBe(key.slice(0, 7));
  });

  it('is hidden whole if it is short', () => {
    expect(hideKey('pass', 's')).toBe(`pa${hidden}${hidden}`);
  });
});
