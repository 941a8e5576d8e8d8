/** `1 object`, `2,000 objects`. */
export function formatCount(value: number, noun: string, plural = `${noun}s`): string {
  return `${value.toLocaleString('en-US')} ${value === 1 ? noun : plural}`;
}

/** Length in bytes for people: `817 B`, `25.3 KiB`, `1.2 GiB`. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes;
  let unit = '';
  for (unit of ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']) {
    value /= 1024;
    if (value < 1023.95) break;
  }
  return `${value.toFixed(1)} ${unit}`;
}

/** An argument as a shell takes it. */
export function shellQuoted(text: string): string {
  return /^[\w.@%+=:,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A time, UTC, as every command takes it back: `2026-11-20T10:00:00Z`, with milliseconds only if there are any. */
export function formatTime(time: Date | string): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}
