import { pipeline, Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import { checksumText } from '../../lambda/archive/archive-object';
import {
  ArchiveReadError,
  type ArchiveReader,
  DamagedObjectError,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
} from '../../lambda/verify/archive-reader';
import { FolderStore, type StoredObject } from '../../local/aws/store/folder-store';
import type { ObjectMetadata } from '../../local/aws/store/object-metadata';

/** An archive in a folder on this machine. */
export class FolderArchiveReader implements ArchiveReader {
  readonly location: string;
  readonly #store: FolderStore;

  constructor(folder: string) {
    this.location = folder;
    this.#store = new FolderStore(folder);
  }

  async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    try {
      for await (const { key, size, lastModified, userMetadata, damage } of this.#store.list(prefix, after)) {
        const known = damage === undefined ? { metadata: userMetadata } : { damage };
        yield { key, storedBytes: size, writtenAt: new Date(lastModified), ...known };
      }
    } catch (error) {
      throw failed(`Listing ${prefix}`, error);
    }
  }

  async time(): Promise<undefined> {
    return undefined;
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const found = await this.#found(key);
    return found && headOf(found.metadata);
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    const found = await this.#found(key);
    if (found === undefined) return undefined;
    const { checksums, damage } = found.metadata;
    // Nothing says whether the stored bytes are those that were written.
    if (damage !== undefined) throw new DamagedObjectError(damage);
    const head = headOf(found.metadata);
    const source = found.open();
    const expected = checksums.crc32;
    if (expected === undefined) return { ...head, body: source };
    // The callback is for the stream's error, which the reader of `body` sees as well.
    return { ...head, body: pipeline(source, checkCrc32(expected), () => undefined) };
  }

  async #found(key: string): Promise<StoredObject | undefined> {
    return this.#store.get(key).catch((error: unknown) => {
      throw failed(`Reading ${key}`, error);
    });
  }
}

function headOf({ size, contentType, contentEncoding, userMetadata }: ObjectMetadata): ObjectHead {
  return { storedBytes: size, contentType, contentEncoding, metadata: userMetadata };
}

/** Passes bytes through. Ends with an error if they do not have the checksum, which is in base64 as in S3. */
function checkCrc32(expected: string): Transform {
  let sum = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum = crc32(chunk, sum);
      done(null, chunk);
    },
    flush(done) {
      if (checksumText(sum) === expected) done();
      else done(new DamagedObjectError('the stored bytes do not have the checksum they were written with'));
    },
  });
}

function failed(action: string, error: unknown): ArchiveReadError {
  return new ArchiveReadError(`${action} failed: ${(error as Error).message}`, { cause: error });
}
