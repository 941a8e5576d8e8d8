import { pipeline, Readable, Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import { checksumText } from '../../lambda/archive/checksum';
import {
  ArchiveReadError,
  type ArchiveReader,
  ChecksumError,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
} from '../../lambda/verify/archive-reader';
import { FolderStore } from '../../local/aws/store/folder-store';

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
        const metadata = damage === undefined ? { metadata: userMetadata } : {};
        yield { key, storedBytes: size, writtenAt: new Date(lastModified), ...metadata };
      }
      startAfter = page.next;
      last = startAfter === undefined;
    }
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const found = await translated(`Reading ${key}`, () => this.#store.head(key));
    return found && { storedBytes: found.size, metadata: found.userMetadata };
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    const found = await translated(`Reading ${key}`, () => this.#store.get(key));
    if (found === undefined) return undefined;
    const { size, userMetadata, checksums, damage } = found.metadata;
    if (damage !== undefined) return { storedBytes: size, metadata: userMetadata, body: damagedBody(damage) };
    const expected = checksums.crc32;
    const source = found.open();
    // The callback is for the stream's error, which the reader of `body` sees as well.
    const body = expected === undefined ? source : pipeline(source, checkCrc32(expected), () => {});
    return { storedBytes: size, metadata: userMetadata, body };
  }
}

/** The checksum is lost, so that nothing says whether the stored bytes are those that were written. */
function damagedBody(damage: string): Readable {
  return new Readable({
    read() {
      this.destroy(new ChecksumError(damage));
    },
  });
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
