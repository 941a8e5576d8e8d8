import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { isRunning, withKeyLock } from './key-lock';
import { fileNameOf, fileNamesOf, InvalidKeyError, isShortened, metadataFolder, segmentsOf } from './key-path';
import { KeyWalk } from './key-walk';
import { type ListOptions, type ListPage, listPage } from './list-page';
import { type ObjectHeaders, type ObjectMetadata, readMetadata } from './object-metadata';

export { InvalidKeyError } from './key-path';
export type { ListOptions, ListPage } from './list-page';
export type { ObjectHeaders, ObjectMetadata } from './object-metadata';

export interface StoredObject {
  readonly metadata: ObjectMetadata;
  /** Opens the bytes, or those from `start` to `end`, both inclusive. */
  open(range?: { readonly start: number; readonly end: number }): Readable;
}

interface KeyPaths {
  readonly key: string;
  readonly data: string;
  readonly metadata: string;
  readonly lock: string;
}

/** There is an object under the key, and the writer asked for none to be there. */
export class ObjectExistsError extends Error {
  override readonly name = 'ObjectExistsError';
}

/**
 * Objects in a folder: the bytes of one lie at `<folder>/<key>`, what else is known of it at
 * `<folder>/.metadata/<key>.json`. An object appears whole or not at all, also when the process is killed; several
 * processes may share a folder. Unlike in S3, a key cannot be stored beside one that has it as a folder (`a`, `a/b`).
 */
export class FolderStore {
  private readonly incoming: string;
  private readonly names: string;

  constructor(readonly folder: string) {
    this.incoming = join(folder, `${metadataFolder}-incoming`);
    this.names = join(folder, `${metadataFolder}-names`);
  }

  /**
   * Stores an object once its body has arrived whole; a body that throws leaves nothing.
   * @param headers a function is called after the body's end, for what only then is known
   * @throws ObjectExistsError with `ifNoneMatch`, if there is one under this key
   * @throws InvalidKeyError for a key that cannot lie in a folder, or not beside those that do
   * @throws KeyConflictError if another process is storing under this key at this moment
   */
  async put(
    key: string,
    body: AsyncIterable<Uint8Array> | Buffer,
    headers: ObjectHeaders | (() => ObjectHeaders),
    { ifNoneMatch = false }: { readonly ifNoneMatch?: boolean } = {},
  ): Promise<ObjectMetadata> {
    const paths = this.pathsOf(key);
    const received = join(this.incoming, `${process.pid}-${randomUUID()}`);
    try {
      await mkdir(this.incoming, { recursive: true });
      const { size, etag } = await receiveBody(received, body);
      const given = typeof headers === 'function' ? headers() : headers;
      const lastModified = new Date();
      // The bytes carry their time, so that a reader can tell which description is theirs.
      await utimes(received, lastModified, lastModified);
      const metadata: ObjectMetadata = {
        key,
        size,
        etag,
        lastModified: lastModified.toISOString(),
        ...given,
        userMetadata: given.userMetadata ?? {},
        checksums: given.checksums ?? {},
      };
      await withKeyLock(paths.lock, () => this.commit(paths, received, metadata, ifNoneMatch));
      return metadata;
    } finally {
      await Promise.all([rm(received, { force: true }), rm(`${received}.json`, { force: true })]);
    }
  }

  /** The object, its bytes not yet opened; undefined if there is none. */
  async get(key: string): Promise<StoredObject | undefined> {
    const metadata = await this.head(key);
    if (metadata === undefined) return undefined;
    const { data } = this.pathsOf(key);
    return { metadata, open: (range) => createReadStream(data, range) };
  }

  async head(key: string): Promise<ObjectMetadata | undefined> {
    const { data, metadata } = this.pathsOf(key);
    return readMetadata(key, data, metadata);
  }

  /** One page of the keys under a prefix, in the order of their UTF-8 bytes; reads only the folders it needs. */
  list(prefix: string, options: ListOptions = {}): Promise<ListPage> {
    const walk = new KeyWalk(this.folder, { prefix, startAfter: options.startAfter, names: this.names });
    return listPage(walk, (key) => this.head(key), prefix, options);
  }

  /** Removes the object; an absent one is fine. */
  async delete(key: string): Promise<void> {
    const { data, metadata, lock } = this.pathsOf(key);
    try {
      await withKeyLock(lock, async () => {
        await rm(data, { force: true });
        await rm(metadata, { force: true });
      });
    } catch (error) {
      // A folder of this name, or a file in the way to it: either way there is no such object.
      if (!isInTheWay(error)) throw error;
    }
  }

  /** Removes what killed processes left half received. */
  async removeLeftovers(): Promise<void> {
    await mkdir(this.incoming, { recursive: true });
    for (const name of await readdir(this.incoming)) {
      const pid = /^(\d+)-/.exec(name)?.[1];
      if (pid !== undefined && !isRunning(Number(pid))) await rm(join(this.incoming, name), { force: true });
    }
  }

  private pathsOf(key: string): KeyPaths {
    const names = fileNamesOf(key);
    return {
      key,
      data: join(this.folder, ...names),
      metadata: `${join(this.folder, metadataFolder, ...names)}.json`,
      lock: join(this.incoming, `${createHash('sha256').update(key).digest('hex')}.lock`),
    };
  }

  /** Makes the object visible: its metadata first, then with one step of the file system its bytes. */
  private async commit(
    paths: KeyPaths,
    received: string,
    metadata: ObjectMetadata,
    ifNoneMatch: boolean,
  ): Promise<void> {
    const { key, data } = paths;
    try {
      const previous = await readMetadata(key, data, paths.metadata);
      if (ifNoneMatch && previous !== undefined) throw exists(key);
      await this.keepNames(key);
      await mkdir(dirname(paths.metadata), { recursive: true });
      await mkdir(dirname(data), { recursive: true });
      const described = `${received}.json`;
      // While both are there, the description before is kept: killed between the two steps, the old bytes still have theirs.
      await writeFile(described, JSON.stringify({ ...metadata, previous }));
      await rename(described, paths.metadata);
      if (ifNoneMatch) await this.linkNew(key, received, data);
      else await rename(received, data);
    } catch (error) {
      if (isInTheWay(error))
        throw new InvalidKeyError(
          `Storing ${JSON.stringify(key)} in a folder failed: a file cannot be a folder of others too; use another key`,
          { cause: error },
        );
      throw error;
    }
  }

  private async linkNew(key: string, received: string, data: string): Promise<void> {
    try {
      await link(received, data);
    } catch (error) {
      // A folder of this name is no object: to call it one would be to call archived what is not.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(data)).isFile()) throw exists(key, error);
      throw error;
    }
  }

  /** Writes down the segments behind shortened file names, for listing. */
  private async keepNames(key: string): Promise<void> {
    for (const segment of segmentsOf(key)) {
      const name = fileNameOf(segment);
      if (!isShortened(name)) continue;
      await mkdir(this.names, { recursive: true });
      const written = join(this.incoming, `${process.pid}-${randomUUID()}`);
      await writeFile(written, segment);
      await rename(written, join(this.names, name));
    }
  }
}

function exists(key: string, cause?: unknown): ObjectExistsError {
  return new ObjectExistsError(`Storing ${JSON.stringify(key)} failed: there is an object under this key`, { cause });
}

function isInTheWay(error: unknown): boolean {
  return ['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ERR_FS_EISDIR'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}

/** Writes a body to a new file; `etag` is its MD5 in lower-case hex. What a body that throws leaves is the caller's to remove. */
export async function receiveBody(
  path: string,
  body: AsyncIterable<Uint8Array> | Buffer,
): Promise<{ size: number; etag: string }> {
  const md5 = createHash('md5');
  let size = 0;
  const file = await open(path, 'wx');
  try {
    for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
      md5.update(chunk);
      await file.writeFile(chunk);
      size += chunk.length;
    }
  } finally {
    await file.close();
  }
  return { size, etag: md5.digest('hex') };
}
