import type { ObjectName } from '../format/keys';
import { isWithin, type Period } from '../read/run-keys';

/** Files of a part that no archive has: the key that signs seals, how to check it by hand, and what does it at once. */
export const partKeyFile = 'seals-public-key.pem';
export const partPageFile = 'CHECK.md';
/** The second reader, which judges the folder without our code. */
export const partReaderFile = 'check_archive.py';

/** All of them. */
export const partFiles: readonly string[] = [partKeyFile, partPageFile, partReaderFile];

/**
 * A part of an archive: one cluster's objects of a period of runs, the records of those runs, and all seals. Which part, whoever
 * reads it says: what its sender says of it, nobody has signed.
 */
export interface Part extends Period {
  readonly cluster: string;
}

/** Whether something belongs to a part. A run record does, whatever its clusters are. */
export function isInPart(part: Part, { cluster, run }: Partial<ObjectName>): boolean {
  return (cluster === undefined || cluster === part.cluster) && (run === undefined || isWithin(run, part));
}
