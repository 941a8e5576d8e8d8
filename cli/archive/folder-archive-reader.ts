import { pipeline, Readable, Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import { checksumText } from '../../lambda/archive/archive-object';
import {
  ArchiveReadError,
  type ArchiveReader,
  ChecksumError,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
} from '../../lambda/verify/archive-reader';
import { FolderStore } from '../../local/aws/store/folder-store';
import type { ObjectMetadata } from '../../local/aws/store/object-metadata';

const pageSize = 1000;

/** An archive in a folder on this machine. */
export class FolderArchiveReader implements ArchiveReader {
  readonly location: string;
  readonly #store: FolderStore;

  constructor(folder: string) {
    this.location = folder;
    this.#store = new FolderStore(folder);
  }

  async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    for (let startAfter = after, last = false; !last; ) {
      const page = await translated(`Listing ${prefix}`, () =>
        this.#store.list(prefix, { startAfter, maxKeys: pageSize }),
      );
      for (const { key, size, lastModified, userMetadata, damage } of page.objects) {
        const known = damage === undefined ? { metadata: userMetadata } : { damage };
        yield { key, storedBytes: size, writtenAt: new Date(lastModified), ...known };
      }
      startAfter = page.next;
      last = startAfter === undefined;
    }
  }

  async time(): Promise<undefined> {
    return undefined;
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const found = await translated(`Reading ${key}`, () => this.#store.head(key));
    return found && headOf(found);
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    const found = await translated(`Reading ${key}`, () => this.#store.get(key));
    if (found === undefined) return undefined;
    const { checksums, damage } = found.metadata;
    const head = headOf(found.metadata);
    if (damage !== undefined) return { ...head, body: damagedBody(damage) };
    const source = found.open();
    const expected = checksums.crc32;
    if (expected === undefined) return { ...head, body: source };
    // The callback is for the stream's error, which the reader of `body` sees as well.
    return { ...head, body: pipeline(source, checkCrc32(expected), () => undefined) };
  }
}

/** Nothing says whether the stored bytes are those that were written: they are not opened. */
function damagedBody(damage: string): Readable {
  return new Readable({
    read() {
      this.destroy(new ChecksumError(damage));
    },
  });
}

function headOf({ size, contentType, contentEncoding, userMetadata, damage }: ObjectMetadata): ObjectHead {
  return { storedBytes: size, contentType, contentEncoding, metadata: userMetadata, damage };
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
      else done(new ChecksumError('the stored bytes do not have the checksum they were written with'));
    },
  });
}

async function translated<Result>(action: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw new ArchiveReadError(`${action} failed: ${(error as Error).message}`, { cause: error });
  }
}
