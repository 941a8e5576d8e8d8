import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
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

/**
 * The same for a reader that takes the content in as it comes.
 * @param mostBytes most content that the object may have if it is not compressed
 * @param begin called before each attempt to read the object
 */
export async function readInto<Sink extends Writable>(
  reader: ArchiveReader,
  key: string,
  mostBytes: number,
  begin: (head: ObjectHead) => Sink,
  decompress?: () => Decompressor,
): Promise<{ readonly head: ObjectHead; readonly sink: Sink } | undefined> {
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
      if (undo === undefined) await pipeline(body, sink);
      else await pipeline(body, undo, sink);
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

class Content extends Writable {
  readonly #mostBytes: number;
  #buffer: Buffer;
  #length = 0;

  /** @param expectedBytes in memory from the beginning: chunks that are put together at the end would be there twice */
  constructor(mostBytes: number, expectedBytes: number) {
    super();
    this.#mostBytes = mostBytes;
    this.#buffer = Buffer.allocUnsafe(Math.min(mostBytes, expectedBytes));
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    const length = this.#length + chunk.length;
    if (length > this.#mostBytes) {
      done(new DamagedObjectError(`it is longer than ${this.#mostBytes} bytes`));
      return;
    }
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#mostBytes, Math.max(length, 2 * this.#buffer.length)));
      this.bytes.copy(grown);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    done();
  }
}
