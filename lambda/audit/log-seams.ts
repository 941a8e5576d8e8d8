import { clusterPrefix, dateOf, type ObjectName, objectKey, parseObjectKey, stampOf } from '../archive/archive-layout';
import type { LogEnd } from '../log/log-end';
import { LogTextScanner } from '../log/log-text';
import { LogReader, type ReadLog, type Seam } from '../log/seam';
import type { RunOutcome } from '../run/run-record';
import type { ArchiveReader } from '../verify/archive-reader';
import { type CheckedObject, checkObject } from '../verify/check-object';
import { readContent } from '../verify/open-content';
import type { SealedLogs } from '../verify/seals/seal';
import { dayMs } from '../verify/time-limits';
import { LogEnds } from './log-ends';
import { LogNews } from './log-news';

/** Memory for the ends of all logs, in bytes. */
const mostMemory = 28 * 1024 * 1024;
const bytesPerLine = 12;

/** Fewest and most lines that are kept of each log. With fewer, what looks like a gap is judged by the whole texts. */
const lineLimits = { least: 48, most: 100_000 } as const;

/** How far back the base of the first new log is looked for, in days: nearly always the last one has it. */
const lookBack = [2, 32] as const;

/** Logs that are tried as a base, the newest first: one may be empty or damaged. */
const mostTried = 3;

type LogOutcome = RunOutcome & { readonly key: string };

/** A text that later logs of its cluster are compared with. */
interface Base {
  readonly name: ObjectName;
  readonly slot: number;
  readonly sha256: string | undefined;
}

/**
 * Judges how each new log follows the one before it of its cluster, while it is verified. The logs of a cluster have to come
 * one after the other, in the order of their runs. The base of the first one is read once more.
 */
export class LogSeams {
  readonly #reader: ArchiveReader;
  readonly #ends: LogEnds;
  readonly #bases = new Map<string, Base | undefined>();
  /** The log before the last gap, by cluster: a stale answer may have its text again, and a later log reach back to it. */
  readonly #beforeGaps = new Map<string, Omit<Base, 'slot'>>();
  readonly #news: LogNews;

  /**
   * @param before as the seal before has it
   * @param clusters how many there are: they share the memory
   * @param frozenAfterHours when a log counts as frozen that has nothing new
   */
  constructor(reader: ArchiveReader, before: SealedLogs | undefined, clusters: number, frozenAfterHours?: number) {
    this.#reader = reader;
    const most = Math.floor(mostMemory / bytesPerLine / Math.max(1, clusters));
    this.#ends = new LogEnds(Math.min(lineLimits.most, Math.max(lineLimits.least, most)));
    this.#news = new LogNews(before, frozenAfterHours);
  }

  /** What to seal. @param isTold whether people get a mail of this seal */
  result(configured: Iterable<string>, isTold: boolean): SealedLogs {
    return this.#news.result(configured, isTold);
  }

  /** Checks an archived log, as {@link checkObject} does, and judges its seam. */
  async check(outcome: LogOutcome): Promise<CheckedObject> {
    const { key } = outcome;
    const name = parseObjectKey(key) as ObjectName;
    const base = await this.#baseOf(name);
    const isOutOfTurn = base !== undefined && name.run <= base.name.run;
    if (isOutOfTurn || (base?.sha256 !== undefined && base.sha256 === outcome.logSha256)) {
      const checked = await checkObject(this.#reader, key, outcome);
      if (!isOutOfTurn && checked.problem === undefined) this.#followSame(name, base);
      return checked;
    }
    const attempts: LogReader[] = [];
    const checked = await checkObject(this.#reader, key, outcome, () => {
      const log = this.#readerAfter(base);
      attempts.push(log);
      return log.sink();
    });
    const log = attempts.at(-1);
    if (log !== undefined && checked.problem === undefined) await this.#judge(name, outcome.logSha256, base, log.end());
    else if (checked.problem?.kind !== 'unreadable') this.#news.addUnknown();
    return checked;
  }

  #readerAfter(base: Base | undefined): LogReader {
    return new LogReader(base === undefined ? [] : [this.#ends.get(base.slot)], this.#ends.most);
  }

  #followSame(name: ObjectName, base: Base): void {
    this.#bases.set(name.cluster, { ...base, name });
    this.#news.addUnchanged(name, base.name.run);
  }

  async #judge(name: ObjectName, sha256: string | undefined, base: Base | undefined, read: ReadLog): Promise<void> {
    const { end } = read;
    const found = end.lines === 0 ? undefined : read.seams[0];
    if (found === undefined) {
      if (end.lines === 0) this.#news.addUnknown();
      else this.#follow(name, sha256, end, base);
      return;
    }
    const before = base as Base;
    const seam = await this.#confirmed(found, name, before);
    const isFromBeforeGap = sha256 !== undefined && this.#beforeGaps.get(name.cluster)?.sha256 === sha256;
    if (seam.kind === 'unknown') this.#news.addUnknown();
    else if (seam.kind === 'older' || (seam.kind === 'gap' && isFromBeforeGap)) this.#news.addOlder();
    else await this.#goOn(name, before, seam, end, sha256);
  }

  /** The log is the base of the next. */
  async #goOn(name: ObjectName, base: Base, seam: Seam, end: LogEnd, sha256: string | undefined): Promise<void> {
    const from = base.name.run;
    this.#follow(name, sha256, end, base);
    if (seam.kind === 'gap') {
      this.#beforeGaps.set(name.cluster, base);
      this.#news.addGap(name, from);
      return;
    }
    if (await this.#closesGap(seam, end, name)) this.#news.closeGap(name.cluster);
    this.#beforeGaps.delete(name.cluster);
    if (seam.kind === 'unchanged') this.#news.addUnchanged(name, from);
    else this.#news.addContinued(name, from, seam, end.lines);
  }

  #follow(name: ObjectName, sha256: string | undefined, end: LogEnd, base: Base | undefined): void {
    const slot = base?.slot ?? this.#ends.add(end);
    if (base !== undefined) this.#ends.set(slot, end);
    this.#bases.set(name.cluster, { name, slot, sha256 });
  }

  /** Where only a part of the base was kept, what is no overlap with that part is judged once more by both texts. */
  async #confirmed(seam: Seam, name: ObjectName, base: Base): Promise<Seam> {
    const isPart = this.#ends.most < lineLimits.most && this.#ends.get(base.slot).lines > this.#ends.most;
    const isSure = seam.kind === 'unchanged' || seam.kind === 'continues' || this.#news.isOnlyGaps(name.cluster);
    if (!isPart || isSure) return seam;
    return (await this.#compare(base.name, name)) ?? { ...seam, kind: 'unknown' };
  }

  /** Whether the log reaches back across the last gap of its cluster. */
  async #closesGap({ shared, added, isShort }: Seam, { lines }: LogEnd, name: ObjectName): Promise<boolean> {
    const before = this.#beforeGaps.get(name.cluster);
    if (before === undefined || isShort || lines - shared - added <= 0) return false;
    const seam = await this.#compare(before.name, name);
    return seam !== undefined && !seam.isShort && (seam.kind === 'continues' || seam.kind === 'unchanged');
  }

  async #compare(before: ObjectName, name: ObjectName): Promise<Seam | undefined> {
    const earlier = await this.#read(before, []);
    return earlier && (await this.#read(name, [earlier.end]))?.seams[0];
  }

  async #baseOf(name: ObjectName): Promise<Base | undefined> {
    if (this.#bases.has(name.cluster)) return this.#bases.get(name.cluster);
    let base: Base | undefined;
    for (const before of await this.#logsBefore(name)) {
      const read = await this.#read(before, []);
      if (read === undefined || read.end.lines === 0) continue;
      base = { name: before, slot: this.#ends.add(read.end), sha256: undefined };
      break;
    }
    this.#bases.set(name.cluster, base);
    return base;
  }

  /** The newest logs before a run, the newest first. @throws ArchiveReadError */
  async #logsBefore({ cluster, run }: ObjectName): Promise<ObjectName[]> {
    const prefix = clusterPrefix('log', cluster);
    for (const days of lookBack) {
      const from = new Date(run.getTime() - days * dayMs);
      const found: ObjectName[] = [];
      for await (const { key } of this.#reader.list(prefix, `${prefix}date=${dateOf(from)}/${stampOf(from)}.`)) {
        const name = parseObjectKey(key);
        if (name !== undefined && name.run >= run) break;
        if (name !== undefined) found.push(name);
      }
      if (found.length > 0) return found.reverse().slice(0, mostTried);
    }
    return [];
  }

  /** The text of a log; undefined if it cannot be read. Whatever the reason is: verifying that log finds it. */
  async #read(name: ObjectName, earlier: readonly LogEnd[]): Promise<ReadLog | undefined> {
    const log = new LogReader(earlier);
    try {
      const content = await readContent(this.#reader, objectKey(name));
      if (content === undefined) return undefined;
      const { body } = content;
      const chunks = Buffer.isBuffer(body) ? [body] : (body as AsyncIterable<Buffer>);
      const scanner = new LogTextScanner(() => log.sink());
      for await (const chunk of chunks) scanner.write(chunk);
      scanner.end();
      return log.end();
    } catch {
      return undefined;
    }
  }
}
