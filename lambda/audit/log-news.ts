import type { LogLink } from '../log/log-history';
import type { SeamKind } from '../log/seam';
import type { LogsState } from '../verify/seals/seal-state';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Gaps that a state lists; it counts all. */
const mostLogGaps = 1000;

/** So many gaps in a row, and it is the rule that the logs of a cluster share nothing. */
const onlyGapsFrom = 4;

/** Hours without anything new after which people are told, if nothing else is configured. */
export const defaultFrozenHours = 24;

type Gap = LogsState['gaps'][number];
type Frozen = LogsState['frozen'][number];
type OnlyGaps = LogsState['onlyGaps'][number];

/** Sums up how the new logs follow those before them: what is sealed, told to people, and carried to the next audit. */
export class LogNews {
  readonly #seams: Record<SeamKind, number> = { unchanged: 0, continues: 0, older: 0, gap: 0, unknown: 0 };
  readonly #frozen: Map<string, Frozen>;
  readonly #onlyGaps: Map<string, OnlyGaps>;
  /** How far back the log of a cluster reaches, in milliseconds: the least, by what was shared. */
  readonly #reaches = new Map<string, number>();
  #gaps: Gap[];
  #gapsMore: number;
  #newShare: LogsState['newShare'] = null;

  /** @param before as the seal before has it */
  constructor(before: LogsState, frozenAfterHours = defaultFrozenHours) {
    const told = before.isMailed;
    const carried = <One extends Frozen | OnlyGaps>(list: readonly One[] = [], isNews: (one: One) => boolean) =>
      new Map(list.map((one) => [one.cluster, { ...one, isMailed: one.isMailed || (told && isNews(one)) }]));
    this.#frozen = carried(before.frozen, (one) => one.isEmpty || frozenHours(one) >= frozenAfterHours);
    this.#onlyGaps = carried(before.onlyGaps, isRule);
    // What no mail has told yet stays news.
    this.#gaps = told ? [] : [...before.gaps];
    this.#gapsMore = told ? 0 : before.gapsMore;
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
    if (base === undefined) {
      if (lines > 0) this.#frozen.delete(cluster);
      else this.#seams.unknown += 1;
      return;
    }
    this.#seams[seam.kind] += 1;
    if (seam.kind === 'unknown' || seam.kind === 'older') return;
    if (seam.kind === 'unchanged') this.#addFrozen(cluster, run, base, false);
    else this.#frozen.delete(cluster);
    if (seam.kind === 'gap') this.#addGap(cluster, run, base);
    else this.#onlyGaps.delete(cluster);
    if (seam.kind === 'continues') this.#addShare(cluster, run, base, seam.added, lines);
  }

  #addFrozen(cluster: string, run: Date, first: Date, isEmpty: boolean): void {
    const before = this.#frozen.get(cluster);
    const { since = first.toISOString(), isMailed = false } = before?.isEmpty === isEmpty ? before : {};
    this.#frozen.set(cluster, { cluster, since, last: run.toISOString(), isEmpty, isMailed });
  }

  #addShare(cluster: string, run: Date, base: Date, added: number, lines: number): void {
    const reach = ((run.getTime() - base.getTime()) * lines) / added;
    this.#reaches.set(cluster, Math.min(reach, this.#reaches.get(cluster) ?? reach));
    const percent = Math.round((100 * added) / lines);
    if (percent > (this.#newShare?.percent ?? 0)) this.#newShare = { cluster, run: run.toISOString(), percent };
  }

  #addGap(cluster: string, run: Date, base: Date): void {
    const { gaps = 0, isMailed = false } = this.#onlyGaps.get(cluster) ?? {};
    this.#onlyGaps.set(cluster, { cluster, gaps: gaps + 1, isMailed });
    if (this.isOnlyGaps(cluster)) this.#gaps = this.#gaps.filter((gap) => gap.cluster !== cluster);
    else if (this.#gaps.length === mostLogGaps) this.#gapsMore += 1;
    else this.#gaps.push({ cluster, from: base.toISOString(), to: run.toISOString() });
  }

  /** What to seal. @param isMailed whether people get a mail of this seal */
  result(configured: Iterable<string>, isMailed: boolean): LogsState {
    const clusters = new Set(configured);
    const isConfigured = ({ cluster }: { readonly cluster: string }) => clusters.has(cluster);
    const frozen = [...this.#frozen.values()].filter(isConfigured).sort((a, b) => (a.since < b.since ? -1 : 1));
    const onlyGaps = [...this.#onlyGaps.values()].filter(isConfigured);
    return {
      seams: this.#seams,
      gaps: this.#gaps.map((gap) => this.#withReach(gap)),
      gapsMore: this.#gapsMore,
      newShare: this.#newShare,
      frozen,
      onlyGaps,
      isMailed,
    };
  }

  #withReach(gap: Gap): Gap {
    const reach = this.#reaches.get(gap.cluster);
    return reach === undefined ? gap : { ...gap, reachMinutes: Math.max(1, Math.floor(reach / minuteMs)) };
  }
}

/** Whether the logs of a cluster share nothing as a rule: its service sends only what is new, or it moves on too fast. */
export function isRule({ gaps }: Pick<OnlyGaps, 'gaps'>): boolean {
  return gaps >= onlyGapsFrom;
}

/** For how long a log has had nothing new, as far as runs show. */
export function frozenHours({ since, last }: Pick<Frozen, 'since' | 'last'>): number {
  return (Date.parse(last) - Date.parse(since)) / hourMs;
}
