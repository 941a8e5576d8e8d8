/** Width of a telephone, in characters. Keys and hashes are longer. */
const width = 60;

/** Longest subject that SNS takes, in characters. */
const mostSubject = 99;

export function subjectOf(verdict: string, archive: string): string {
  return `Audit: ${verdict} (${archive}`
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, mostSubject - 1)
    .concat(')');
}

/** Names from outside as they may stand in a line of a mail. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 300);
}

export function quoted(text: string): string {
  return /^[\w.@%+=:,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Names in lines of a telephone's width. */
export function wrapped(names: readonly string[], indent = '  '): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [at, name] of names.entries()) {
    const part = at < names.length - 1 ? `${name}, ` : name;
    if (line !== '' && line.length + part.length > width) {
      lines.push(`${indent}${line.trimEnd()}`);
      line = '';
    }
    line += part;
  }
  return [...lines, `${indent}${line}`];
}

export function more(left: number, what = ''): string[] {
  return left > 0 ? [`  and ${count(left)} more${what === '' ? '' : ` ${what}`}`] : [];
}

export function day(time: string): string {
  return time.slice(0, 10);
}

export function minute(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')}Z`;
}

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

export function clusters(value: number): string {
  return `${count(value)} ${value === 1 ? 'cluster' : 'clusters'}`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const at = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log2(value) / 10));
  return `${at === 0 ? value : (value / 1024 ** at).toFixed(1)} ${units[at]}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
