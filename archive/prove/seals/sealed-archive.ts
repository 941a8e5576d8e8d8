import { clockSlackMs, sealedWithinMs } from '../../format/clocks';
import { type Excusable, type Finding, nameOf } from '../../format/finding';
import { type ObjectName, parseObjectKey, parseRunRecordKey } from '../../format/keys';
import { problems } from '../../format/problems';
import type { Outcome } from '../../format/run-record';
import type { Seal } from '../../format/seal';
import type { OpenFinding } from '../../format/seal-state';
import type { StoredRun } from '../../read/read-run';
import { isWithin, type Period } from '../../read/run-keys';
import { acknowledgedBy } from './open-damage';
import type { RightSeal, SealChain, Sealed } from './seal-chain';

export interface SealedArchiveOptions {
  /** SHA-256 of the seals that kept mails are of: other seals excuse nothing. Left out: the whole chain is believed. */
  readonly mails?: readonly string[] | undefined;
  /** Whether it is a part, which ends at what its newest seal has. Left out: it is whole, and what is new has no seal yet. */
  readonly isPart?: boolean;
  /** The seal that the audit is about to make. Left out: it is not an audit. */
  readonly own?: OwnSeal;
}

/** A seal that an audit is about to make, as far as it is known beforehand. */
export interface OwnSeal extends Pick<Seal, 'number' | 'listedFrom'> {
  readonly plan: Pick<Seal['plan'], 'retentionDays' | 'clusterList'>;
}

/** What a run record says of an object. */
interface NamedObject extends Pick<Outcome, 'outcome' | 'fetchedAt'> {
  readonly key: string;
  readonly name: Pick<ObjectName, 'run'>;
}

/** What a comparison with the seals says: a finding if what is sealed is another. */
export type Compared = 'same' | 'not sealed' | 'not read' | Finding;

/** Compares what an archive has with what its seals say. */
export class SealedArchive {
  readonly #chain: SealChain;
  /** The seals of the chain that are believed: those that mails are of, or all. */
  readonly #believed: readonly RightSeal[];
  /** Whether what is not there may lie in the archive that this is a part of. */
  readonly isPart: boolean;
  /** The seals of the chain, and what the audit itself is about to seal; none where no plan has a list from outside. */
  readonly listPlans: readonly OwnSeal[];
  /** Why findings are acknowledged, by the newest seal, and by the newest that is believed. */
  readonly #acknowledged: readonly ReturnType<typeof acknowledgedBy>[];
  /** What is open by the newest seal, by {@link nameOf}. */
  readonly #open: ReadonlyMap<string, OpenFinding>;
  /** What is sealed, by the time of its run; undefined: nobody has asked yet. */
  #byRun: ReadonlyMap<number, readonly (readonly [string, Sealed])[]> | undefined;

  constructor(chain: SealChain, { mails, isPart = false, own }: SealedArchiveOptions) {
    this.#chain = chain;
    this.isPart = isPart;
    this.#believed = believedSeals(chain, mails);
    const planned = own === undefined ? chain.seals : [...chain.seals, own];
    this.listPlans = planned.some(({ plan }) => plan.clusterList !== undefined) ? planned : [];
    const heads = [chain.head, this.#believed.at(-1)];
    this.#acknowledged = heads.map((seal) => acknowledgedBy(seal?.plan ?? {}));
    this.#open = new Map(chain.state.open.first.map((one) => [nameOf(one), one]));
  }

  /** What the seals say of a finding: since which audit it is open, and why it is acknowledged. */
  saidOf(finding: Pick<Finding, 'kind' | 'key'>): Pick<Finding, 'since' | 'acknowledged'> {
    const [newest, kept] = this.#acknowledged.map((whyOf) => whyOf(finding));
    return { since: this.#open.get(nameOf(finding))?.since, acknowledged: newest && kept };
  }

  /**
   * Compares the records of a run with their hashes, and says which should be in a seal and are not.
   * @param there gets what is sealed and there
   * @returns `unattested`: the keys of those that are not what the seals say
   */
  checkRun(
    { read }: Pick<StoredRun, 'read'>,
    there: Set<Sealed>,
  ): { readonly unattested: ReadonlySet<string>; readonly findings: readonly Finding[] } {
    const unattested = new Set<string>();
    const findings: Finding[] = [];
    for (const { key, writtenAt, damage, file, record } of read) {
      const sealed = this.#chain.records.get(key);
      const unsealed = this.#open.get(nameOf({ kind: 'unsealed', key }));
      let problem: string | undefined;
      if (sealed !== undefined) there.add(sealed);
      else if (this.isPart && this.#chain.files > 0) problem = problems.notSealedInPart;
      else if (damage === undefined && this.#shouldBeSealed(key, writtenAt, record?.finishedAt))
        problem = problems.notSealed;
      // The audit that found it sealed it. Only a seal from before takes that back.
      if (sealed !== undefined && unsealed !== undefined && sealed.by.seal >= unsealed.since)
        problem = unsealed.problem;
      const forged = this.compareRecord(key, file?.sha256);
      if (typeof forged === 'object') findings.push(forged);
      if (problem !== undefined) findings.push({ kind: 'unsealed', key, problem });
      if (typeof forged === 'object' || problem !== undefined) unattested.add(key);
    }
    return { unattested, findings };
  }

  /** @param sha256 of the file of a run record; undefined: it could not be read, which is said already */
  compareRecord(key: string, sha256: string | undefined): Compared {
    const sealed = this.#chain.records.get(key);
    if (sealed === undefined || sha256 === undefined) return sealed === undefined ? 'not sealed' : 'not read';
    const problem = problems.replacedFile(sealed.by.number);
    return sha256 === sealed.sha256 ? 'same' : { kind: 'forged', key, problem };
  }

  /**
   * @param sha256 of the content of an object that is there; undefined: it could not be read, which is said already
   * @param there gets it, if it is sealed
   */
  compareObject(key: string, sha256: string | undefined, there: Set<Sealed>): Compared {
    const sealed = this.#chain.objects.get(key);
    if (sealed === undefined) return 'not sealed';
    there.add(sealed);
    if (sha256 === undefined) return 'not read';
    const problem = problems.replacedContent(sealed.by.number);
    return sha256 === sealed.sha256 ? 'same' : { kind: 'forged', key, problem };
  }

  /** Whether the first seal that has a run record is one or a later one; what no seal has yet, the next one has. */
  isSealedSince(recordKey: string, number = 0): boolean {
    return (this.#chain.records.get(recordKey)?.by.number ?? Number.POSITIVE_INFINITY) >= number;
  }

  /** Whether a seal itself has the content of an object. */
  has(key: string): boolean {
    return this.#chain.objects.has(key);
  }

  /** Notes that an object is there, if a seal has it. */
  noteObject(key: string, there: Set<Sealed>): void {
    const sealed = this.#chain.objects.get(key);
    if (sealed !== undefined) there.add(sealed);
  }

  /** What is sealed in a period of runs and is not there. @param there what is */
  *gone({ from, to }: Period, there: ReadonlySet<Sealed>): Generator<Excusable> {
    this.#byRun ??= this.#sealedByRun();
    const isOneRun = from !== undefined && from.getTime() === to?.getTime();
    for (const time of isOneRun ? [from.getTime()] : this.#byRun.keys()) {
      const run = new Date(time);
      if (!isWithin(run, { from, to })) continue;
      for (const [key, sealed] of this.#byRun.get(time) ?? []) {
        if (there.has(sealed)) continue;
        const problem = problems.goneSinceSealed(sealed.by.number);
        yield { kind: 'missing', key, problem, writtenAt: this.#earliest(run, key, sealed.by) ?? run };
      }
    }
  }

  #sealedByRun(): Map<number, [string, Sealed][]> {
    const byRun = new Map<number, [string, Sealed][]>();
    for (const sealed of [this.#chain.records, this.#chain.objects])
      for (const [key, one] of sealed) {
        const time = (parseRunRecordKey(key) ?? parseObjectKey(key))?.run.getTime();
        const own = time === undefined ? undefined : byRun.get(time);
        if (own !== undefined) own.push([key, one]);
        else if (time !== undefined) byRun.set(time, [[key, one]]);
      }
    return byRun;
  }

  /**
   * An object that is gone. It is as sealed as the run record that names it: it was written at the time that the record says,
   * and if that record archived it, no earlier than its seal allows. A configuration that somebody stored never excuses it.
   * @param records keys of the run records that may name it: the one that was sealed first counts
   */
  lost(records: readonly string[], { key, name, outcome, fetchedAt }: NamedObject, problem: string): Excusable {
    // Nothing of a run was fetched before its time: a record that says so must not excuse by it.
    const fetched = new Date(fetchedAt ?? name.run);
    const said = fetched > name.run ? fetched : name.run;
    const times = records.map((key) => this.#earliest(name.run, key, this.#chain.records.get(key)?.by));
    const [earliest] = times.includes(undefined) ? [] : times.sort((one, other) => Number(one) - Number(other));
    const isLater = outcome === 'archived' && earliest !== undefined && earliest > said;
    const mayPredateSeals = this.#chain.head && earliest === undefined;
    return { kind: 'missing', key, problem, writtenAt: isLater ? earliest : said, mayPredateSeals };
  }

  #shouldBeSealed(key: string, writtenAt: Date, finishedAt = writtenAt.toISOString()): boolean {
    const { head } = this.#chain;
    if (head === undefined) return false;
    // What that audit could not read or had no time for, a later one seals.
    const { behind, keys } = head.unread;
    if (keys.includes(key) || (behind !== null && key > behind)) return false;
    // In a copy of the archive everything is as young as the copy; the record's own clock may be wrong.
    const written = Math.min(writtenAt.getTime(), Date.parse(finishedAt) + clockSlackMs);
    return written < Date.parse(head.listedFrom) - sealedWithinMs;
  }

  /**
   * Nobody knows when something was written that is gone: at its run at the earliest, and after the listing before its seal.
   * @param by undefined: no seal has it yet
   * @returns undefined: it may have been there before the first seal
   */
  #earliest(run: Date, key: string, by: RightSeal | undefined): Date | undefined {
    const before = this.#believed.findLast(({ number }) => by === undefined || number < by.number);
    if (before === undefined) return undefined;
    const { behind, keys } = before.unread;
    // That audit had no time for it, or could not read it.
    if ((behind !== null && key > behind) || keys.includes(key)) return run;
    const listed = Date.parse(before.listedFrom) - clockSlackMs;
    return listed > run.getTime() ? new Date(listed) : run;
  }
}

/** The seals of the chain that count: those that mails are of, or all. */
export function believedSeals({ seals }: SealChain, mails: SealedArchiveOptions['mails']): readonly RightSeal[] {
  return seals.filter(({ sha256 }) => mails?.includes(sha256) !== false);
}
