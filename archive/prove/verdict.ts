import { damageKinds, type Find, type Finding, type FindingKind, findingKinds } from '../format/finding';
import type { Span } from './due-runs';
import type { JudgedObject } from './judge-context';
import type { RightSeal, SealChain } from './seals/seal-chain';
import type { lateStamps, SealStamp } from './seals/seal-stamps';
import { type SaidOfFinding, SealedArchive, type SealedArchiveOptions } from './seals/sealed-archive';

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
  /** What the lifecycle has removed, or is about to remove. */
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

export interface OpenedFinding extends Finding, SaidOfFinding {}

/** Longest description of a problem, in characters. */
const mostCharacters = 500;

/** What a verification has found so far. */
export class Verdict {
  readonly counts: VerifyCounts;
  readonly sealed: SealedArchive;
  readonly findings: OpenedFinding[] = [];

  constructor(chain: SealChain, options: SealedArchiveOptions) {
    this.sealed = new SealedArchive(chain, this.find, options);
    const found = Object.fromEntries(findingKinds.map((kind) => [kind, 0])) as Record<FindingKind, number>;
    const read = { runs: 0, records: 0, sound: 0, doubts: 0, withoutMetadata: 0, bytes: 0, expired: 0 };
    this.counts = { ...read, found, notJudged: [], acknowledged: 0, sealed: null };
  }

  readonly find: Find = (kind, key, problem) => this.say({ kind, key, problem }, this.sealed.saidOf({ kind, key }));

  readonly onObject = ({ outcome, bytes, problem, isVouched, isBare }: JudgedObject): void => {
    if (outcome === undefined) return;
    this.counts.bytes += bytes;
    if (isBare === true) this.counts.withoutMetadata += 1;
    if (outcome.doubt !== undefined) this.counts.doubts += 1;
    if (problem === undefined && isVouched) this.counts.sound += 1;
  };

  /** @param said what the seals say of it */
  say({ kind, key, problem }: Finding, { since, acknowledged }: SaidOfFinding): void {
    this.counts.found[kind] += 1;
    if (acknowledged !== undefined && damageKinds.includes(kind)) this.counts.acknowledged += 1;
    // It may quote what somebody wrote into the archive, at any length.
    this.findings.push({ kind, key, problem: problem.slice(0, mostCharacters), since, acknowledged });
  }
}
