import type { LogsState } from '../verify/seals/seal-state';
import { defaultFrozenHours, frozenHours, isRule } from './log-news';
import { count, formatCount, minute, plain, shellQuoted } from './mail-text';

/**
 * What people are told of the logs, each once: gaps, logs that never share a line, and those that are frozen. The subject of
 * the mail has no word of the second: a cluster whose logs never share a line has lost nothing by that.
 */
export function toldOfLogs(
  logs: LogsState,
  archive: string,
  frozenAfterHours = defaultFrozenHours,
): { readonly subjects: readonly string[]; readonly lines: readonly string[] } {
  const lossy = new Set(logs.gaps.map(({ cluster }) => cluster)).size;
  const notMailed = logs.frozen.filter((one) => !one.isMailed);
  const empty = notMailed.filter((one) => one.isEmpty);
  const frozen = notMailed.filter((one) => !one.isEmpty && frozenHours(one) >= frozenAfterHours);
  const subjects = [
    ...(lossy > 0 ? [`lines of ${formatCount(lossy, 'cluster')} may be lost`] : []),
    ...(empty.length > 0 ? [`${formatCount(empty.length, 'log')} became empty`] : []),
    ...(frozen.length > 0 ? [formatCount(frozen.length, 'frozen log')] : []),
  ];
  const lines = [
    ...gapLines(logs, lossy, archive),
    ...onlyGapsLines(logs),
    ...emptyLines(empty),
    ...frozenLines(frozen),
  ];
  return { subjects, lines };
}

/** What alarms watch. */
export function logFigures({ gaps, gapsMore, frozen }: LogsState, frozenAfterHours = defaultFrozenHours) {
  const frozenLogs = frozen.filter((one) => one.isEmpty || frozenHours(one) >= frozenAfterHours).length;
  return { logGaps: gaps.length + gapsMore, frozenLogs };
}

/** @param lossy how many clusters have a gap */
function gapLines({ gaps, gapsMore }: LogsState, lossy: number, archive: string): string[] {
  // The one of which most is known is the best example.
  const example = gaps.find(({ reachMinutes }) => reachMinutes !== undefined) ?? gaps[0];
  if (example === undefined) return [];
  const { cluster, from, to } = example;
  const more = gapsMore > 0 ? ' or more' : '';
  return [
    `Lines may be lost between runs, or logs were begun anew: ${formatCount(lossy, 'cluster')}${more},`,
    `  such as ${plain(cluster)} (${minute(from)} to ${minute(to)})`,
    ...adviceOf(example).map((line) => `  ${line}`),
    `  npm run collector -- log ${shellQuoted(plain(cluster))} --seams --from ${from} --to ${to} --archive s3://${archive}`,
  ];
}

/** What to do so that no lines are lost: never an interval as long as the one in which they were. */
function adviceOf({ from, to, reachMinutes }: LogsState['gaps'][number]): string[] {
  const lost = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 60_000));
  if (reachMinutes === undefined) return ['Nothing shows how far its log reaches back: collect more often.'];
  const interval = intervalFor(reachMinutes);
  if (interval < lost)
    return [`Its log reaches back about ${duration(reachMinutes)}: collect every ${duration(interval)}.`];
  return [
    `It mostly reaches back about ${duration(reachMinutes)}, not this time: collect`,
    `more often than every ${duration(lost)}, or ask the service to keep more.`,
  ];
}

/** Intervals that people choose, in minutes. */
const intervals = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1440] as const;

/** The longest of them that leaves a fifth to spare. */
function intervalFor(reachMinutes: number): number {
  return intervals.findLast((minutes) => minutes <= 0.8 * reachMinutes) ?? intervals[0];
}

function duration(minutes: number): string {
  if (minutes >= 120) return `${count(Math.floor(minutes / 60))} hours`;
  return minutes === 1 ? 'minute' : `${minutes} minutes`;
}

function onlyGapsLines({ onlyGaps }: LogsState): string[] {
  const news = onlyGaps.filter((one) => !one.isMailed && isRule(one));
  const [first] = news;
  if (first === undefined) return [];
  return [
    `Logs that never share a line with the one before: ${formatCount(news.length, 'cluster')}, such as`,
    `  ${plain(first.cluster)} (${count(first.gaps)} runs in a row). Its service sends only what`,
    '  is new, or the log moves on faster than runs come.',
    '  This is told once.',
  ];
}

function emptyLines(empty: LogsState['frozen']): string[] {
  const [first] = empty;
  if (first === undefined) return [];
  return [
    `${formatCount(empty.length, 'log')} became empty after one with lines, such as ${plain(first.cluster)}`,
    `  (since ${minute(first.since)}). It counts as frozen until it has lines again.`,
  ];
}

function frozenLines(news: LogsState['frozen']): string[] {
  const [first] = news;
  if (first === undefined) return [];
  const hours = Math.floor(Math.min(...news.map(frozenHours)));
  const isOne = news.length === 1;
  return [
    `${formatCount(news.length, 'log')} ${isOne ? 'has' : 'have'} not changed for ${count(hours)} hours, such as ${plain(first.cluster)};`,
    isOne ? '  is its fetcher alive?' : '  are their fetchers alive?',
  ];
}
