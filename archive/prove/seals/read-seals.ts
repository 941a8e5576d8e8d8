import { DamagedObjectError } from '../../format/damaged-object-error';
import { type Find, findStray } from '../../format/finding';
import { parseSealKey, parseSealStampKey, parseSealStateKey, sealKey, sealsPrefix } from '../../format/keys';
import { headersProblem, jsonLinesType } from '../../format/object-headers';
import { problems } from '../../format/problems';
import { largestSealBytes } from '../../format/seal';
import { readSignedLine, type SignedLine, sha256Of } from '../../format/seal-file';
import { ArchiveReadError, type ArchiveReader } from '../../read/archive-reader';
import { readWhole } from '../../read/read-whole';

/** What lies under the key of a seal. Nobody has looked yet at what the first line says. */
export interface SealFile {
  readonly number: number;
  /** Of the whole file; null: it could not be read. */
  readonly sha256: string | null;
  /** Undefined: it has no line that was signed with the key it names. */
  readonly signed: SignedLine | undefined;
  /** What is wrong with the file; a signed line may have the wrong headers. */
  readonly problem: string | undefined;
}

/** What lies under seals/. */
export interface ListedSeals {
  /** In order. */
  readonly numbers: readonly number[];
  /** SHA-256 of the states, as their keys say: one that no seal names is left over from an audit that was ended. */
  readonly states: ReadonlySet<string>;
  /** Stamps by their keys, in order, and when each was written. */
  readonly stamps: ReadonlyMap<string, Date>;
}

/** @throws ArchiveReadError */
export async function listSeals(reader: ArchiveReader, find: Find): Promise<ListedSeals> {
  const numbers: number[] = [];
  const states = new Set<string>();
  const stamps = new Map<string, Date>();
  for await (const object of reader.list(sealsPrefix)) {
    const { key } = object;
    const number = parseSealKey(key);
    const state = parseSealStateKey(key);
    if (number !== undefined) numbers.push(number);
    else if (state !== undefined) states.add(state);
    else if (parseSealStampKey(key) !== undefined) stamps.set(key, object.writtenAt);
    else findStray(find, object);
  }
  return { numbers: numbers.sort((a, b) => a - b), states, stamps };
}

/** @throws ArchiveReadError if it can be read another time */
export async function readSealFile(reader: ArchiveReader, number: number): Promise<SealFile> {
  let sha256: string | null = null;
  const read = await orWhy(async () => {
    const found = await readWhole(reader, sealKey(number), largestSealBytes);
    if (found === undefined) throw new DamagedObjectError(problems.goneSinceListed);
    sha256 = sha256Of(found.bytes);
    const problem = headersProblem(found, { contentType: jsonLinesType, contentEncoding: undefined });
    return { signed: readSignedLine(found.bytes), problem };
  });
  return { number, sha256, ...(typeof read === 'string' ? { signed: undefined, problem: read } : read) };
}

/** What a reading gives, or why it cannot be used. @throws ArchiveReadError if it can be read another time */
export async function orWhy<Result>(read: () => Promise<Result>): Promise<Result | string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DamagedObjectError) return error.message;
    if (!(error instanceof ArchiveReadError) || !error.isLasting) throw error;
    return problems.unread(error.message);
  }
}
