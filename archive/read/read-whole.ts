import { DamagedObjectError } from '../format/damaged-object-error';
import { RunRecordError } from '../format/run-record';
import { ArchiveReadError, type ArchiveReader, type Body, discard, type OpenedObject } from './archive-reader';
import { damageOf } from './open-content';

/** How often an object is read whose connection broke. */
const readAttempts = 3;

export interface WholeObject extends Omit<OpenedObject, 'body'> {
  readonly bytes: Buffer;
}

/**
 * Reads an object as it is stored, whole; undefined if there is none.
 * @param mostBytes most that is read into memory
 * @throws DamagedObjectError if it is longer, or damaged
 * @throws ArchiveReadError if the archive cannot be read
 */
export function readWhole(reader: ArchiveReader, key: string, mostBytes: number): Promise<WholeObject | undefined> {
  return readObject(reader, key, mostBytes, async ({ body, ...head }) => {
    // Chunks that are put together at the end would be in memory twice.
    const bytes = Buffer.allocUnsafe(head.storedBytes);
    let length = 0;
    for await (const chunk of chunksOf(body, head.storedBytes)) length += chunk.copy(bytes, length);
    return { ...head, bytes: bytes.subarray(0, length) };
  });
}

/**
 * The same for a reader that takes the content in as it comes.
 * @param read called for each attempt to read the object
 * @throws the reason of the reader's signal
 */
export async function readObject<Result>(
  reader: ArchiveReader,
  key: string,
  mostBytes: number,
  read: (object: OpenedObject) => Promise<Result>,
): Promise<Result | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const opened = await reader.open(key);
    if (opened === undefined) return undefined;
    try {
      if (opened.storedBytes > mostBytes) throw new DamagedObjectError(`it is longer than ${mostBytes} bytes`);
      return await read(opened);
    } catch (error) {
      discard(opened.body);
      if (reader.signal?.aborted === true || (error instanceof ArchiveReadError && error.isLasting)) throw error;
      const damage = damageOf(error);
      if (damage !== undefined) throw new DamagedObjectError(damage, { cause: error });
      if (attempt === readAttempts)
        throw new ArchiveReadError(`Reading ${key} failed: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** What a body has, as long as it is no more than was said. */
export async function* chunksOf(body: Body, storedBytes: number): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of body as Iterable<Buffer> | AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > storedBytes) throw new DamagedObjectError('it is longer than it was said to be');
    yield chunk;
  }
}

/** What an error that ended a reading says of what was read. @throws the error if that is nothing */
export function readingProblem(error: unknown) {
  if (error instanceof DamagedObjectError || error instanceof RunRecordError)
    return { kind: 'damaged', problem: error.message } as const;
  if (error instanceof ArchiveReadError) return { kind: 'unreadable', problem: error.message } as const;
  throw error;
}
