import { hourMs } from '../../archive/format/clocks';
import { moreOf } from '../../archive/format/counted';
import type { LogsState } from '../../archive/format/seal-state';
import type { LogLink } from '../../archive/read';
import { formatCount, formatTime, shellQuoted } from '../plain-text';
import { count, plain } from './mail-lines';

/** Gaps that a state lists; it counts all. */
const mostLogGaps = 1000;

/** So many gaps in a row, and it is the rule that the logs of a cluster share nothing. */
const onlyGapsFrom = 4;

/** Hours without anything new after which a mail says so, if nothing else is configured. */
const defaultFrozenHours = 24;

type Gap = LogsState['gaps']['first'][number];
type Frozen = LogsState['frozen'][number];
type OnlyGaps = LogsState['onlyGaps'][number];

/** Sums up how the new logs follow those before them: for the mail, and for the next audit. */
export class SeamSummary {
  readonly #frozen: Map<string, Frozen>;
  readonly #onlyGaps: Map<string, OnlyGaps>;
  #gaps: Gap[];
  /** How many more there are. */
  #gapsMore: number;

  /** @param before as the state before has it */
  constructor(before: LogsState, frozenAfterHours = defaultFrozenHours) {
    const carried = <One extends Frozen | OnlyGaps>(list: readonly One[], isMailed: (one: One) => boolean) =>
      new Map(
        list.map((one) => [one.cluster, { ...one, isMailed: one.isMailed || (before.isMailed && isMailed(one)) }]),
      );
    this.#frozen = carried(before.frozen, (one) => isFrozen(one, frozenAfterHours));
    this.#onlyGaps = carried(before.onlyGaps, isRule);
    // The next mail has what no mail had yet.
    this.#gaps = before.isMailed ? [] : [...before.gaps.first];
    this.#gapsMore = before.isMailed ? 0 : moreOf(before.gaps);
  }

  /** Whether so far each log of a cluster was a gap. */
  isOnlyGaps(cluster: string): boolean {
    const known = this.#onlyGaps.get(cluster);
    return known !== undefined && isRule(known);
  }

  /** Takes note of how the log of a cluster follows the one before it. @param isEmpty it was read, and has no line */
  add(cluster: string, { run, seam, base, lines }: LogLink, isEmpty: boolean): void {
    if (isEmpty && (base !== undefined || this.#frozen.get(cluster)?.isEmpty === true))
      this.#addFrozen(cluster, run, run, true);
    if (base === undefined && lines > 0) this.#frozen.delete(cluster);
    if (base === undefined || seam.kind === 'unknown' || seam.kind === 'older') return;
    if (seam.kind === 'unchanged') this.#addFrozen(cluster, run, base, false);
    else this.#frozen.delete(cluster);
    if (seam.kind === 'gap') this.#addGap(cluster, run, base);
    else this.#onlyGaps.delete(cluster);
  }

  #addFrozen(cluster: string, run: Date, first: Date, isEmpty: boolean): void {
    const before = this.#frozen.get(cluster);
    const { since = first.toISOString(), isMailed = false } = before?.isEmpty === isEmpty ? before : {};
    this.#frozen.set(cluster, { cluster, since, last: run.toISOString(), isEmpty, isMailed });
  }

  #addGap(cluster: string, run: Date, base: Date): void {
    const { gaps = 0, isMailed = false } = this.#onlyGaps.get(cluster) ?? {};
    this.#onlyGaps.set(cluster, { cluster, gaps: gaps + 1, isMailed });
    if (this.isOnlyGaps(cluster)) this.#gaps = this.#gaps.filter((gap) => gap.cluster !== cluster);
    else if (this.#gaps.length === mostLogGaps) this.#gapsMore += 1;
    else this.#gaps.push({ cluster, from: base.toISOString(), to: run.toISOString() });
  }

  /** What the state has. @param isMailed whether people get a mail of it */
  result(configured: Iterable<string>, isMailed: boolean): LogsState {
    const clusters = new Set(configured);
    const isConfigured = ({ cluster }: { readonly cluster: string }) => clusters.has(cluster);
    const frozen = [...this.#frozen.values()].filter(isConfigured).sort((a, b) => (a.since < b.since ? -1 : 1));
    const onlyGaps = [...this.#onlyGaps.values()].filter(isConfigured);
    const gaps = { count: this.#gaps.length + this.#gapsMore, first: this.#gaps };
    return { gaps, frozen, onlyGaps, isMailed };
  }
}

/** Whether the logs of a cluster share nothing as a rule: its service sends only what is new, or it moves on too fast. */
function isRule({ gaps }: OnlyGaps): boolean {
  return gaps >= onlyGapsFrom;
}

/** For how long a log has had nothing new, as far as runs show. */
function frozenHours({ since, last }: Frozen): number {
  return (Date.parse(last) - Date.parse(since)) / hourMs;
}

function isFrozen(one: Frozen, frozenAfterHours = defaultFrozenHours): boolean {
  return one.isEmpty || frozenHours(one) >= frozenAfterHours;
}

/** What alarms watch. */
export function logFigures({ gaps, frozen }: LogsState, frozenAfterHours?: number) {
  const frozenLogs = frozen.filter((one) => isFrozen(one, frozenAfterHours)).length;
  return { logGaps: gaps.count, frozenLogs };
}

/**
 * What a mail says of the logs, each once: gaps, logs that never share a line, and those that are frozen. The subject has no
 * word of the second: a cluster whose logs never share a line has lost nothing by that.
 */
export function seamLines(
  logs: LogsState,
  archive: string,
  frozenAfterHours?: number,
): { readonly subjects: readonly string[]; readonly lines: readonly string[] } {
  const lossy = new Set(logs.gaps.first.map(({ cluster }) => cluster)).size;
  const unsaid = logs.frozen.filter((one) => !one.isMailed && isFrozen(one, frozenAfterHours));
  const empty = unsaid.filter((one) => one.isEmpty);
  const frozen = unsaid.filter((one) => !one.isEmpty);
  const onlyGaps = logs.onlyGaps.filter((one) => !one.isMailed && isRule(one));
  const subjects = [
    ...(lossy > 0 ? [`lines of ${formatCount(lossy, 'cluster')} may be lost`] : []),
    ...(empty.length > 0 ? [`${formatCount(empty.length, 'log')} became empty`] : []),
    ...(frozen.length > 0 ? [formatCount(frozen.length, 'frozen log')] : []),
  ];
  const lines = [
    ...gapLines(logs, lossy, archive),
    ...about(onlyGaps, ({ cluster, gaps }, many) => [
      `Logs that never share a line with the one before: ${formatCount(many, 'cluster')}, such as`,
      `  ${plain(cluster)} (${count(gaps)} runs in a row). Its service sends only what`,
      '  is new, or the log moves on faster than runs come.',
      '  No later mail says this again.',
    ]),
    ...about(empty, ({ cluster, since }, many) => [
      `${formatCount(many, 'log')} became empty after one with lines, such as ${plain(cluster)}`,
      `  (since ${formatTime(since)}). It counts as frozen until it has lines again.`,
    ]),
    ...about(frozen, ({ cluster }, many) => [
      `${formatCount(many, 'log')} ${many === 1 ? 'has' : 'have'} not changed for ${count(Math.floor(Math.min(...frozen.map(frozenHours))))} hours, such as ${plain(cluster)};`,
      many === 1 ? '  is its fetcher alive?' : '  are their fetchers alive?',
    ]),
  ];
  return { subjects, lines };
}

/** Lines about the first of some, and how many there are; none if there are none. */
function about<One>(all: readonly One[], linesOf: (first: One, many: number) => string[]): string[] {
  const [first] = all;
  return first === undefined ? [] : linesOf(first, all.length);
}

/** @param lossy how many clusters have a gap */
function gapLines({ gaps }: LogsState, lossy: number, archive: string): string[] {
  const [example] = gaps.first;
  if (example === undefined) return [];
  const { cluster, from, to } = example;
  const more = moreOf(gaps) > 0 ? ' or more' : '';
  return [
    `Lines may be lost between runs, or logs were begun anew: ${formatCount(lossy, 'cluster')}${more},`,
    `  such as ${plain(cluster)} (${formatTime(from)} to ${formatTime(to)})`,
    '  Collect more often than that, or ask the service to keep more lines.',
    `  npm run collector -- log ${shellQuoted(plain(cluster))} --seams --from ${from} --to ${to} --archive s3://${archive}`,
  ];
}
