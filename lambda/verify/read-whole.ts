import { pipeline } from 'node:stream';
import { RunStopped } from '../stop';
import { ArchiveReadError, type ArchiveReader, type ObjectHead } from './archive-reader';
import { DamagedObjectError, type Decompressor, damageOf } from './open-content';

/** How often an object is read whose connection broke. */
export const readAttempts = 3;

export interface WholeObject extends ObjectHead {
  readonly bytes: Buffer;
}

/**
 * Reads an object whole; undefined if there is none.
 * @param mostBytes most content that is read into memory
 * @param decompress left out: the object is not compressed
 * @throws DamagedObjectError if it is longer, or damaged
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readWhole(
  reader: ArchiveReader,
  key: string,
  mostBytes: number,
  decompress?: () => Decompressor,
): Promise<WholeObject | undefined> {
  const begin = ({ storedBytes }: ObjectHead) => new Content(mostBytes, storedBytes);
  const read = await readInto(reader, key, mostBytes, begin, decompress);
  return read && { ...read.head, bytes: read.sink.bytes };
}

/** Takes in content, chunk by chunk. Throws a DamagedObjectError if it cannot be what it should be. */
interface Sink {
  add(chunk: Buffer): void;
}

/**
 * The same for a reader that takes the content in as it comes.
 * @param mostBytes most content that the object may have if it is not compressed
 * @param begin called before each attempt to read the object
 */
export async function readInto<Into extends Sink>(
  reader: ArchiveReader,
  key: string,
  mostBytes: number,
  begin: (head: ObjectHead) => Into,
  decompress?: () => Decompressor,
): Promise<{ readonly head: ObjectHead; readonly sink: Into } | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const opened = await reader.open(key);
    if (opened === undefined) return undefined;
    const { body, ...head } = opened;
    if (decompress === undefined && head.storedBytes > mostBytes) {
      body.destroy();
      throw new DamagedObjectError(`it is longer than ${mostBytes} bytes`);
    }
    const sink = begin(head);
    try {
      const undo = decompress?.();
      // The callback is for the stream's error, which the reader of the content sees as well.
      const content = undo === undefined ? body : pipeline(body, undo, () => undefined);
      for await (const chunk of content as AsyncIterable<Buffer>) sink.add(chunk);
      if (undo !== undefined && undo.bytesWritten !== head.storedBytes)
        throw new DamagedObjectError('something else follows its compressed content');
      return { head, sink };
    } catch (error) {
      if (error instanceof RunStopped) throw error;
      const damage = damageOf(error);
      if (damage !== undefined) throw new DamagedObjectError(damage, { cause: error });
      if (attempt === readAttempts)
        throw new ArchiveReadError(`Reading ${key} failed: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** @throws DamagedObjectError if it is not JSON */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new DamagedObjectError('it is not JSON', { cause: error });
  }
}

class Content implements Sink {
  readonly #mostBytes: number;
  #buffer: Buffer;
  #length = 0;

  /** @param expectedBytes in memory from the beginning: chunks that are put together at the end would be there twice */
  constructor(mostBytes: number, expectedBytes: number) {
    this.#mostBytes = mostBytes;
    this.#buffer = Buffer.allocUnsafe(Math.min(mostBytes, expectedBytes));
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#mostBytes) throw new DamagedObjectError(`it is longer than ${this.#mostBytes} bytes`);
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#mostBytes, Math.max(length, 2 * this.#buffer.length)));
      this.bytes.copy(grown);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
  }
}
