import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { DamagedObjectError } from '../format/damaged-object-error';
import { keyProblem } from '../format/folder-layout';
import { parseObjectKey } from '../format/keys';
import { objectMetadata } from '../format/object-metadata';
import {
  ArchiveReadError,
  type ArchiveReader,
  checkedStream,
  compareChecksum,
  type ListedName,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
  smallBytes,
} from './archive-reader';
import { type FoundKey, walkKeys, walkNames } from './folder/key-walk';
import { irregularMetadata, type ObjectMetadata, readMetadata, unlessAbsent } from './folder/object-description';
import { liesThere } from './folder/regular-file';
import { openStoredFile, type StoredFile } from './folder/stored-file';
import { damageOf } from './open-content';

/** An archive in a folder on this machine. */
export class FolderArchiveReader implements ArchiveReader {
  readonly location: string;
  readonly passedOver = new Set<string>();

  constructor(folder: string) {
    this.location = folder;
  }

  readonly #passOver = (path: string): void => {
    this.passedOver.add(path);
  };

  async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    try {
      for (const found of walkKeys({
        folder: this.location,
        prefix,
        startAfter: after,
        passOver: this.#passOver,
      }))
        yield listedFile(this.location, found);
    } catch (error) {
      throw failed(`Listing ${prefix}`, error);
    }
  }

  async *listNames(prefix: string): AsyncGenerator<ListedName> {
    try {
      for (const { key, problem } of walkNames({ folder: this.location, prefix, passOver: this.#passOver }))
        yield { name: key, damage: problem };
    } catch (error) {
      throw failed(`Listing ${prefix}`, error);
    }
  }

  async time(): Promise<undefined> {
    return undefined;
  }

  has(key: string): boolean {
    try {
      if (keyProblem(key) !== undefined) return false;
      return unlessAbsent(() => liesThere({ folder: this.location, path: key })) ?? false;
    } catch (error) {
      throw failed(`Looking for ${key}`, error);
    }
  }

  head(key: string): Promise<ObjectHead | undefined> {
    return this.#read(key, async (found) => {
      const facts = await ownFacts(key, found).catch((error: unknown) => {
        if (!(error instanceof DamagedObjectError)) throw error;
      });
      return { ...headOf(found.metadata), ...facts };
    });
  }

  open(key: string): Promise<OpenedObject | undefined> {
    return this.#read(key, async (found) => {
      const { damage, checksums } = found.metadata;
      // Nothing says whether the stored bytes are those that were written.
      if (damage !== undefined) throw new DamagedObjectError(damage);
      const head = { ...headOf(found.metadata), ...(await ownFacts(key, found)) };
      if (head.storedBytes > smallBytes) return { ...head, body: checkedStream(found.open(), checksums.crc32) };
      const bytes = found.bytes();
      compareChecksum(crc32(bytes), checksums.crc32);
      return { ...head, body: [bytes] };
    });
  }

  /** @throws DamagedObjectError, and ArchiveReadError for whatever else keeps an object from being read */
  async #read<Result>(key: string, read: (found: StoredFile) => Promise<Result>): Promise<Result | undefined> {
    try {
      const found = openStoredFile(this.location, key);
      return found && (await read(found));
    } catch (error) {
      throw error instanceof DamagedObjectError ? error : failed(`Reading ${key}`, error);
    }
  }
}

/** What is known of it is read when it is asked for: most who list want its key alone. */
function listedFile(folder: string, { key, problem }: FoundKey): ListedObject {
  let metadata: ObjectMetadata | undefined;
  const known = (): ObjectMetadata => {
    try {
      if (problem === undefined) metadata ??= readMetadata({ folder, path: key });
      metadata ??= irregularMetadata(key, problem ?? 'it is no longer there');
      return metadata;
    } catch (error) {
      throw failed(`Listing ${key}`, error);
    }
  };
  return {
    key,
    get storedBytes() {
      return known().size;
    },
    get writtenAt() {
      return new Date(known().lastModified);
    },
    get damage() {
      return known().damage;
    },
  };
}

function headOf({ size, contentType, contentEncoding, userMetadata, isBare }: ObjectMetadata): ObjectHead {
  return { storedBytes: size, contentType, contentEncoding, metadata: userMetadata, isBare };
}

/**
 * What an object without metadata says: its key, and the content that is read for this.
 * @throws DamagedObjectError if its content is not gzip
 */
async function ownFacts(key: string, found: StoredFile): Promise<Pick<ObjectHead, 'metadata'> | undefined> {
  const name = found.metadata.isBare === true ? parseObjectKey(key) : undefined;
  if (name === undefined) return undefined;
  const sha256 = createHash('sha256');
  let length = 0;
  try {
    await pipeline(found.open(), createGunzip(), async (content: AsyncIterable<Buffer>) => {
      for await (const chunk of content) {
        length += chunk.length;
        sha256.update(chunk);
      }
    });
  } catch (cause) {
    const damage = damageOf(cause);
    throw damage === undefined ? cause : new DamagedObjectError(damage, { cause });
  }
  const { cluster, resource, run } = name;
  const content = { sha256: sha256.digest('hex'), length };
  return { metadata: objectMetadata({ cluster, resource, run, ...content, version: '' }) };
}

function failed(action: string, error: unknown): ArchiveReadError {
  return new ArchiveReadError(`${action} failed: ${(error as Error).message}`, { cause: error });
}
