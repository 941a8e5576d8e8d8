import type { Excusable, Find } from '../format/finding';
import type { ArchiveReader } from '../read/archive-reader';
import type { Clusters } from '../read/clusters';
import type { Period } from '../read/run-keys';
import type { StoredConfigurations } from '../read/stored-configurations';
import type { StoredOutcome } from '../read/stored-outcomes';
import type { CheckedObject } from './check-object';
import type { SealedArchive } from './seals/sealed-archive';

/** What is judged at once: runs of a period, and of them some clusters. The smallest is one cluster of one run. */
export interface Stretch extends Period {
  readonly clusters: Clusters;
}

export interface JudgeContext {
  readonly reader: ArchiveReader;
  readonly configurations: StoredConfigurations;
  readonly sealed: SealedArchive;
  readonly now: Date;
  /** Whether the archive itself notes when something was written: a bucket does. The times of files prove nothing. */
  readonly isBucket: boolean;
  readonly find: Find;
  /** Listings and objects read at once. */
  readonly concurrency: number;
  /** What was written after this time may still get its run record; undefined: nothing comes any more. */
  readonly settled: Date | undefined;
  /** Finds what is not as it should be, unless the lifecycle explains it. @returns whether it is found */
  readonly findUnlessExpired: (finding: Excusable) => Promise<boolean>;
  /** Whether the content of a recorded object is read, and not only whether it is there. */
  readonly isRead: (outcome: StoredOutcome) => boolean;
  /** Receives each object that was read. */
  readonly onObject: (object: JudgedObject) => void;
}

export interface JudgedObject extends CheckedObject {
  readonly key: string;
  /** What the run records say of it; undefined: none names it. */
  readonly outcome: StoredOutcome | undefined;
  /** Whether a seal, or a record that is what the seals say, has this content; in an archive without seals it is true. */
  readonly isVouched: boolean;
  /** Whether it was found to be in no run record. */
  readonly isUnrecorded: boolean;
}
