import { formatCount, formatTime } from '../../lambda/plain-text';

export { formatBytes, formatCount, formatTime, shellQuoted } from '../../lambda/plain-text';

/** Milliseconds for people: `417 ms`, `12.3 s`, `4 min 05 s`, `26 h 00 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${twoDigits(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** How long ago, in one unit: `just now`, `45 min ago`, `6 h ago`, `3 days ago`. Clocks may differ by a minute. */
export function formatAge(milliseconds: number): string {
  if (Math.abs(milliseconds) < 60_000) return 'just now';
  return milliseconds < 0 ? 'in the future' : `${inOneUnit(milliseconds / 3_600_000)} ago`;
}

/** For how long a cluster was not archived: `7 runs, 8 h`, or `at least 20 runs, 19 h` if nobody knows since when. */
export function formatStale(runs: number, hours: number, isAtLeast: boolean): string {
  return `${isAtLeast ? 'at least ' : ''}${formatCount(runs, 'run')}, ${inOneUnit(hours)}`;
}

/** Hours for people, cut to one unit: `45 min`, `6 h`, `3 days`. */
export function inOneUnit(hours: number): string {
  if (hours < 1) return `${Math.floor(hours * 60)} min`;
  return hours < 48 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} days`;
}

const names = new Intl.Collator('en', { numeric: true });

/** Sorts names as people do: w-2 before w-10. */
export function byName(one: string, other: string): number {
  return names.compare(one, other);
}

/** ` from 2026-11-20T10:00:00Z up to 2026-11-20T12:00:00Z`, as far as it has ends. */
export function formatPeriod({ from, to }: { from?: Date | undefined; to?: Date | undefined }): string {
  return `${from === undefined ? '' : ` from ${formatTime(from)}`}${to === undefined ? '' : ` up to ${formatTime(to)}`}`;
}

/** A time cut to the second, for times that identify nothing. */
export function formatSecond(time: Date | string): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/**
 * The first of several texts, and behind them one more if there are others.
 * @param others what that says, such as `… and 4 more; --json has all`
 */
export function atMost(most: number, texts: readonly string[], others: (more: number) => string): string[] {
  const more = texts.length - most;
  return more > 0 ? [...texts.slice(0, most), others(more)] : [...texts];
}

/** `2 damaged, 1 missing`: what there is any of. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  return found.map(([what, count]) => `${count} ${what}`).join(', ');
}
