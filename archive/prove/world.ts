import type { Excusable, Finding } from '../format/finding';
import type { ArchiveReader } from '../read/archive-reader';
import type { Clusters } from '../read/clusters';
import type { ValidRecords } from '../read/read-run';
import type { Period } from '../read/run-keys';
import type { StoredConfigurations } from '../read/stored-configurations';
import type { StoredOutcome } from '../read/stored-outcomes';
import type { CheckedObject, checkObject } from './check-object';
import type { Expiry } from './expiry';
import type { SealedArchive } from './seals/sealed-archive';
import type { SeenRun } from './seen-run';
import type { Uncovered } from './uncovered';

/** What is judged at once: runs of a period, and of them some clusters. The smallest is one cluster of one run. */
export interface Slice extends Period {
  readonly clusters: Clusters;
  /** `names`: whether objects are there. `content`: what they hold, too. What nobody has a hash of is read in both. */
  readonly depth: 'names' | 'content';
  /**
   * Number of a seal: only the content of what run records archived that this seal or a later one has, and not what lies beside
   * them. Left out: of all, and what lies beside them.
   */
  readonly sealedSince?: number;
  /** Whether nothing comes any more that could explain what is there. Left out: by the time of the world. */
  readonly isSettled?: true;
}

/** What slices are judged by. */
export interface World {
  readonly reader: ArchiveReader;
  /** Those that were read, for whoever reads one again. */
  readonly valid: ValidRecords;
  /** What is wrong with configurations it has itself, once for all slices. */
  readonly configurations: StoredConfigurations;
  readonly sealed: SealedArchive;
  readonly expiry: Expiry;
  readonly now: Date;
  /** Whether the archive itself notes when something was written: a bucket does. The times of files prove nothing. */
  readonly isBucket: boolean;
  /** Listings and objects read at once. */
  readonly concurrency: number;
  /** What was written after this time may still get its run record; undefined: nothing comes any more. */
  readonly settled: Date | undefined;
  /** Gives the name of a cluster to be kept; left out: a copy. */
  readonly keptName?: (cluster: string) => string;
  /** Reads a recorded object whole, as {@link checkObject} does, and whatever else somebody wants to know of its content. */
  readonly check: typeof checkObject;
}

/** One run that has records, and what a judgement of it could tell. */
export interface JudgedRun extends SeenRun {
  /** How many records it has. */
  readonly records: number;
  /**
   * Whether all records and configurations are there, can be read, and are what the seals say: what is not found then is not so.
   */
  readonly isWhole: boolean;
  /** Whether any of them, or an object that they name, could not be read. */
  readonly isUnread: boolean;
  /** Whether a schedule in force was due at its time, whoever started it. */
  readonly isDue: boolean;
  /** What no record of it covers; undefined: its configuration is not known. */
  readonly uncovered: Uncovered | undefined;
}

/** An object that was read. */
export interface JudgedObject extends CheckedObject {
  readonly key: string;
  /** What the run records say of it; undefined: none names it. */
  readonly outcome: StoredOutcome | undefined;
  /** Whether a seal, or a record that is what the seals say, has this content; in an archive without seals it is true. */
  readonly isVouched: boolean;
  /** Whether it was found to be in no run record. */
  readonly isUnrecorded: boolean;
}

/** What comes of a judgement. */
export type Judged =
  | { readonly finding: Finding }
  /** It would be a finding, and the lifecycle explains it. */
  | { readonly expired: Finding }
  | { readonly object: JudgedObject }
  /** A run, after all that its records name. */
  | { readonly run: JudgedRun };

export function found(kind: Finding['kind'], key: string, problem: string): Judged & { readonly finding: Finding } {
  return { finding: { kind, key, problem } };
}

/** Makes a finding of what is not as it should be, unless the lifecycle explains it. @throws ArchiveReadError */
export async function unlessExpired({ expiry }: Pick<World, 'expiry'>, one: Excusable): Promise<Judged> {
  const { kind, key, problem, writtenAt } = one;
  if (await expiry.mayHaveRemoved(one)) return { expired: { kind, key, problem } };
  return found(kind, key, `${problem}${expiry.unexcused(writtenAt)}`);
}

/** Gives all of a judgement to whoever counts it. A call of its own: a variable of a loop would keep a run while the next is read. */
export async function drain(judged: AsyncIterator<Judged>, observe: (one: Judged) => void): Promise<void> {
  while (await takeOne(judged, observe));
}

async function takeOne(judged: AsyncIterator<Judged>, observe: (one: Judged) => void): Promise<boolean> {
  const { done, value } = await judged.next();
  if (done !== true) observe(value);
  return done !== true;
}
