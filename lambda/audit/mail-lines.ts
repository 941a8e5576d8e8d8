/** How names, numbers and times stand in the lines of an audit's mail. */

/** Width of a telephone, in characters. Keys and hashes are longer. */
const width = 60;

/** Names from outside as they may stand in a line of a mail. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 300);
}

/** Names in lines of a telephone's width. */
export function wrapped(names: readonly string[], indent = '  ', separator = ', '): string[] {
  const lines: string[] = [];
  for (const [at, name] of names.entries()) {
    const part = at < names.length - 1 ? `${name}${separator}` : name;
    const line = lines.at(-1);
    if (line === undefined || line.length + part.length > width) lines.push(part);
    else lines[lines.length - 1] = line + part;
  }
  return lines.map((line) => `${indent}${line.trimEnd()}`);
}

export function more(left: number, what = ''): string[] {
  return left > 0 ? [`  and ${count(left)} more${what === '' ? '' : ` ${what}`}`] : [];
}

/** All times in one form, also those that somebody else put into a sentence. */
export function withShortTimes(text: string): string {
  return text.replace(/(T\d\d:\d\d:\d\d)\.000Z/g, '$1Z');
}

export function count(value: number): string {
  return value.toLocaleString('en-US');
}
