import * as z from 'zod/mini';
import { DamagedObjectError, parseJson } from '../format/damage';
import type { ObjectName } from '../format/keys';
import type { ArchiveReader } from '../read/archive-reader';
import { readWhole, type WholeObject } from '../read/read-whole';
import { isWithin, type Period } from '../read/run-keys';

/** Files of a part that no archive has: what it says that it holds, the key that signs seals, and how to check it by hand. */
export const partFile = 'part.json';
export const partKeyFile = 'seals-public-key.pem';
export const partPageFile = 'CHECK.md';
/** The second reader, which judges the folder without our code. */
export const partReaderFile = 'check_archive.py';

/** All of them. */
export const partFiles: readonly string[] = [partFile, partKeyFile, partPageFile, partReaderFile];

/** A part of an archive: one cluster's objects of a period of runs, the records of those runs, and all seals. */
export interface Part extends Period {
  readonly cluster: string;
  /** The archive that it was taken from, and when, as the part itself says. */
  readonly archive: string;
  readonly exportedAt: string;
}

/** Whether something belongs to a part. A run record does, whatever its clusters are. */
export function isInPart(part: Part, { cluster, run }: Partial<ObjectName>): boolean {
  return (cluster === undefined || cluster === part.cluster) && (run === undefined || isWithin(run, part));
}

/** Longest description that is read, in bytes. */
const mostBytes = 64 * 1024;

const time = z.iso.datetime({ precision: 3 });
const partSchema = z.object({
  version: z.literal(1),
  cluster: z.string(),
  archive: z.string(),
  exportedAt: time,
  from: z.nullable(time),
  to: z.nullable(time),
});

export function partText({ from, to, ...part }: Part): string {
  const period = { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null };
  return `${JSON.stringify({ version: 1, ...part, ...period } satisfies z.infer<typeof partSchema>, undefined, 2)}\n`;
}

/**
 * What the archive says that it is a part of; nobody has signed this.
 * @throws DamagedObjectError if it does not say so
 * @throws ArchiveReadError
 */
export async function readPart(reader: ArchiveReader): Promise<Part> {
  try {
    return partOf(await readWhole(reader, partFile, mostBytes));
  } catch (error) {
    if (!(error instanceof DamagedObjectError)) throw error;
    const message = `Reading ${partFile} in ${reader.location} failed: ${error.message}`;
    throw new DamagedObjectError(message, { cause: error });
  }
}

function partOf(found: WholeObject | undefined): Part {
  if (found === undefined)
    throw new DamagedObjectError('the file is missing; only what "collector export" wrote is a part');
  const { success, data } = partSchema.safeParse(parseJson(found.bytes));
  if (!success) throw new DamagedObjectError('it does not say what this is a part of');
  const { version, from, to, ...part } = data;
  return { ...part, from: from === null ? undefined : new Date(from), to: to === null ? undefined : new Date(to) };
}
