import { dayMs } from '../../archive/format/clocks';
import { type ObjectName, objectKey, parseObjectKey } from '../../archive/format/keys';
import type { RunOutcome } from '../../archive/format/run-record';
import type { LogsState } from '../../archive/format/seal-state';
import { type CheckedObject, checkObject } from '../../archive/prove/attest';
import {
  type ArchiveReader,
  clusterObjectsNewestFirst,
  LogHistory,
  type LogLink,
  LogReader,
  mostCompared,
  type ReadLog,
  take,
} from '../../archive/read';
import { SeamSummary } from './seam-summary';
import type { Observer } from './walk';

/** Memory for the ends of all logs, in bytes, and for a line. */
const mostMemory = 28 * 1024 * 1024;
const bytesPerLine = 24;

/** Fewest lines that are kept of each log. With fewer, what looks like a gap is judged by the whole texts. */
const fewestLines = 24;

/** How far back the base of the first new log is looked for: nearly always the last one has it. */
const lookBackMs = 32 * dayMs;

/** Logs that are tried as a base, the newest first: one may be empty, damaged or unreadable. */
const mostTried = 3;

type LogOutcome = RunOutcome & { readonly key: string };

/**
 * Judges how each new log follows the one before it of its cluster, while it is verified. The logs of a cluster have to come
 * one after the other, in the order of their runs. The base of the first one is read once more.
 */
export class LogSeams implements Observer {
  readonly summary: SeamSummary;
  readonly #reader: ArchiveReader;
  /** Lines that are kept of each log. */
  readonly #mostKept: number;
  readonly #histories = new Map<string, LogHistory>();
  /** Clusters with a log that is being checked. */
  readonly #underWay = new Set<string>();
  /** How the logs of the slice that is being judged follow those before them. */
  readonly #links: { readonly cluster: string; readonly link: LogLink; readonly isEmpty: boolean }[] = [];

  /**
   * @param before as the seal before has it
   * @param clusters how many there are: they share the memory
   * @param frozenAfterHours when a log counts as frozen that has nothing new
   */
  constructor(reader: ArchiveReader, before: LogsState, clusters: number, frozenAfterHours?: number) {
    this.#reader = reader;
    const lines = Math.floor(mostMemory / bytesPerLine / Math.max(1, clusters));
    this.#mostKept = Math.min(mostCompared, Math.max(fewestLines, lines));
    this.summary = new SeamSummary(before, frozenAfterHours);
  }

  /** Checks an archived log, as {@link checkObject} does, and judges its seam. */
  async check(outcome: LogOutcome): Promise<CheckedObject> {
    const { cluster, key } = outcome;
    const name = parseObjectKey(key);
    // A forged run record may name another cluster's log, or two logs of a cluster. Both would be compared with the same log
    // before, and the first comparison replaces it.
    if (name?.cluster !== cluster || this.#underWay.has(cluster)) return checkObject(this.#reader, key, outcome);
    this.#underWay.add(cluster);
    try {
      // The outcome's own string: a substring would keep the whole key in memory, for the whole audit.
      return await this.#follow({ ...name, cluster }, outcome);
    } finally {
      this.#underWay.delete(cluster);
    }
  }

  async #follow(name: ObjectName, outcome: LogOutcome): Promise<CheckedObject> {
    const { key } = outcome;
    const history = await this.#historyOf(name);
    const { base } = history;
    if (base !== undefined && name.run <= base.run) return checkObject(this.#reader, key, outcome);
    const { read, ...checked } = await this.#read(key, () => history.reader(), outcome);
    if (checked.problem?.kind === 'unreadable') return checked;
    const link = history.add(name.run, read && (await this.#confirmed(read, name, history)));
    this.#links.push({ cluster: name.cluster, link, isEmpty: read?.lines === 0 });
    return checked;
  }

  /** All logs of a slice were checked: only then they count as seen. */
  judged(): void {
    for (const { cluster, link, isEmpty } of this.#links.splice(0)) this.summary.add(cluster, link, isEmpty);
  }

  /** Where only a part of the base was kept, and nothing of its end was found, the whole texts are compared once more. */
  async #confirmed(read: ReadLog, name: ObjectName, { base }: LogHistory): Promise<ReadLog> {
    const { seam } = read;
    const isFound = seam?.kind === 'unchanged' || seam?.kind === 'continues';
    if (seam === undefined || base === undefined || isFound || this.summary.isOnlyGaps(name.cluster)) return read;
    if (base.log.lines.count >= Math.min(base.log.latest.lines, mostCompared)) return read;
    const { read: whole } = await this.#read(objectKey({ ...name, run: base.run }), () => new LogReader());
    if (whole === undefined) return { ...read, seam: { ...seam, kind: 'unknown' } };
    const again = await this.#read(objectKey(name), () => new LogReader(whole.joined));
    return again.read ?? read;
  }

  async #historyOf(name: ObjectName): Promise<LogHistory> {
    const known = this.#histories.get(name.cluster);
    if (known !== undefined) return known;
    const history = new LogHistory(this.#mostKept);
    const [from, to] = [name.run.getTime() - lookBackMs, name.run.getTime() - 1].map((time) => new Date(time));
    const before = clusterObjectsNewestFirst(this.#reader, 'log', name.cluster, { from, to }, name.run);
    for await (const earlier of take(mostTried, before)) {
      const { read } = await this.#read(earlier.key, () => history.reader());
      if (read !== undefined && history.add(earlier.run, read).lines > 0) break;
    }
    this.#histories.set(name.cluster, history);
    return history;
  }

  /**
   * Checks a log and reads its text. What is wrong with a new log leaves it without one; a log of before only has to be whole:
   * without it there would be a gap where none is.
   * @param reader makes one for each attempt
   * @param outcome of a new log
   */
  async #read(
    key: string,
    reader: () => LogReader,
    outcome?: LogOutcome,
  ): Promise<CheckedObject & { readonly read?: ReadLog | undefined }> {
    let log: LogReader | undefined;
    const checked = await checkObject(this.#reader, key, outcome, () => {
      log = reader();
      return log;
    });
    const { problem } = checked;
    const isWhole = problem === undefined || (outcome === undefined && problem.kind === 'contradiction');
    return isWhole ? { ...checked, read: log?.result() } : checked;
  }
}
