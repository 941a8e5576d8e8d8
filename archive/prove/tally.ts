import {
  bySeverity,
  type Find,
  type Finding,
  type FindingKind,
  findingKinds,
  isDamage,
  nameOf,
} from '../format/finding';
import { parseObjectKey } from '../format/keys';
import type { Verdict } from '../format/verdict';
import { notJudged, type Span } from './due-runs';
import type { RightSeal, SealChain } from './seals/seal-chain';
import type { lateStamps, SealStamp } from './seals/seal-stamps';
import { SealedArchive, type SealedArchiveOptions } from './seals/sealed-archive';
import type { Judged, JudgedObject } from './world';

export interface VerifyCounts {
  runs: number;
  records: number;
  /** Recorded objects that were read and are right, by run records that the seals attest if there are any. */
  sound: number;
  /** Recorded objects that were archived with a doubt. */
  doubts: number;
  /** Recorded objects that were read and have no metadata, as in a copy without it. */
  withoutMetadata: number;
  /** Uncompressed content that was read, in bytes. */
  bytes: number;
  /** Objects that the lifecycle has removed, or is about to remove. */
  expired: number;
  found: Record<FindingKind, number>;
  /** Where nobody can tell which runs were due. */
  notJudged: readonly Span[];
  /** How much of it is damage that the newest seal acknowledges. */
  acknowledged: number;
  /** The chain of seals, and the newest of them; null: the archive is not sealed. */
  sealed: {
    readonly seals: number;
    readonly newest: Pick<RightSeal, 'number' | 'sha256' | 'seal' | 'archive'> | null;
    /** The newest stamp that counts, of each authority. */
    readonly stamps: readonly SealStamp[];
    /** Of seals that were stamped first more than a day after their own time, that stamp. */
    readonly late: ReturnType<typeof lateStamps>;
  } | null;
}

/** What a verification says. `findings` are all of them: what is wrong, what could not be read, and remarks. */
export interface Verified extends Verdict<VerifyCounts> {
  readonly findings: readonly Finding[];
}

/** Longest description of a problem, in characters. */
const mostCharacters = 500;

/** Counts what a verification looks at, and keeps what it finds. */
export class Tally {
  readonly counts: VerifyCounts;
  readonly sealed: SealedArchive;
  /** By kind and key: what several of them say of one is told together, and counts once, as in a seal. */
  readonly #findings = new Map<string, Finding>();

  constructor(chain: SealChain, options: SealedArchiveOptions) {
    this.sealed = new SealedArchive(chain, options);
    const found = Object.fromEntries(findingKinds.map((kind) => [kind, 0])) as Record<FindingKind, number>;
    const read = { runs: 0, records: 0, sound: 0, doubts: 0, withoutMetadata: 0, bytes: 0, expired: 0 };
    this.counts = { ...read, found, notJudged: [], acknowledged: 0, sealed: null };
  }

  readonly find: Find = (kind, key, problem) => this.add({ kind, key, problem });

  /** Takes a finding, with what the seals say of it. */
  add(finding: Finding): void {
    this.say({ ...finding, ...this.sealed.saidOf(finding) });
  }

  /** Takes what comes of judging a slice. */
  take(judged: Judged): void {
    if ('finding' in judged) this.add(judged.finding);
    else if ('expired' in judged) this.counts.expired += parseObjectKey(judged.expired.key) === undefined ? 0 : 1;
    else if ('object' in judged) this.#takeObject(judged.object);
    else {
      this.counts.runs += 1;
      this.counts.records += judged.run.records;
    }
  }

  #takeObject({ outcome, bytes, problem, isVouched, isBare }: JudgedObject): void {
    if (outcome === undefined) return;
    this.counts.bytes += bytes;
    if (isBare === true) this.counts.withoutMetadata += 1;
    if (outcome.doubt !== undefined) this.counts.doubts += 1;
    if (problem === undefined && isVouched) this.counts.sound += 1;
  }

  /** Takes a finding as it is. */
  say(finding: Finding): void {
    const name = nameOf(finding);
    const before = this.#findings.get(name);
    if (before === undefined) this.counts.found[finding.kind] += 1;
    const said =
      before?.problem.includes(finding.problem) === false
        ? [before.problem, finding.problem]
        : [(before ?? finding).problem];
    this.#findings.set(name, {
      ...finding,
      // It may quote what somebody wrote into the archive, at any length.
      problem: said.join('; ').slice(0, mostCharacters),
      // What is not acknowledged of it counts.
      acknowledged: before === undefined || before.acknowledged !== undefined ? finding.acknowledged : undefined,
    });
  }

  verdict(): Verified {
    const findings = [...this.#findings.values()].sort(bySeverity);
    this.counts.acknowledged = findings.filter(
      ({ kind, acknowledged }) => acknowledged !== undefined && isDamage(kind),
    ).length;
    const unread = findings.filter(({ kind }) => kind === 'unreadable');
    const notSeen = [
      ...unread.map(({ key, problem }) => ({ what: key, why: problem })),
      ...this.counts.notJudged.map(notJudged),
    ];
    return { seen: this.counts, wrong: findings.filter(({ kind }) => isDamage(kind)), notSeen, findings };
  }
}
