import { printable } from '../../../cli/terminal/printable';

describe('printable', () => {
  it('an escape sequence loses its power and stays readable', () => {
    expect(printable('\u001b[31mred\u009b2J')).toBe('\\u{1b}[31mred\\u{9b}2J');
  });

  it('line ends and tabs are written out', () => {
    expect(printable('a\r\nb\tc\u2028d')).toBe('a\\r\\nb\\tc\\u{2028}d');
  });

  it('what reverses the direction of text is written out', () => {
    expect(printable('\u202egpj.exe\u2066')).toBe('\\u{202e}gpj.exe\\u{2066}');
  });

  it('ordinary text of any script stays as it is', () => {
    expect(printable('prod-eu 東京 שלום é 👍')).toBe('prod-eu 東京 שלום é 👍');
  });
});
