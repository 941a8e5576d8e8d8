import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InvalidKeyError, incomingFolder, keyProblem } from '../../../archive/format/folder-layout';
import {
  descriptionPath,
  irregularMetadata,
  type ObjectHeaders,
  type ObjectMetadata,
  openStoredFile,
  readMetadata,
  type StoredFile,
  walkKeys,
  walkNames,
} from '../../../archive/read';

/** There is an object under the key, and the writer asked for none to be there. */
export class ObjectExistsError extends Error {
  override readonly name = 'ObjectExistsError';
}

/**
 * Objects in a folder: the bytes of one lie at `<folder>/<key>`, what else is known of it at
 * `<folder>/metadata/<key>.json`. A new object appears whole or not at all, even if the process is killed. One process at
 * a time may write to a folder; `cli/start/start-command.ts` sees to that. An object that is replaced, which the collector
 * never does, changes in two steps. Unlike in S3, a key cannot be stored beside one that has it as a folder (`a`, `a/b`).
 */
export class FolderStore {
  readonly #folder: string;
  readonly #incoming: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = join(folder, incomingFolder);
  }

  /**
   * Stores an object once its body has arrived whole; a body that throws leaves nothing.
   * @param headers undefined: nothing is known of it but its bytes
   * @throws ObjectExistsError with `ifNoneMatch`, if there is one under this key
   * @throws InvalidKeyError for a key that cannot lie in a folder, or not beside those that do
   */
  async put(
    key: string,
    body: AsyncIterable<Uint8Array> | Buffer,
    headers: ObjectHeaders | undefined,
    { ifNoneMatch = false }: { readonly ifNoneMatch?: boolean } = {},
  ): Promise<ObjectMetadata> {
    const problem = keyProblem(key);
    if (problem !== undefined)
      throw new InvalidKeyError(`Storing ${JSON.stringify(key)} in a folder failed: ${problem}; use another key`);
    const received = join(this.#incoming, `${process.pid}-${randomUUID()}`);
    try {
      await mkdir(this.#incoming, { recursive: true });
      const { size, etag } = await receiveBody(received, body);
      const lastModified = new Date();
      const metadata: ObjectMetadata = {
        ...headers,
        key,
        size,
        etag,
        lastModified: lastModified.toISOString(),
        userMetadata: headers?.userMetadata ?? {},
        checksums: headers?.checksums ?? {},
        ...(headers === undefined && { isBare: true }),
      };
      this.#commit(received, metadata, ifNoneMatch);
      return metadata;
    } finally {
      await Promise.all([rm(received, { force: true }), rm(`${received}.json`, { force: true })]);
    }
  }

  /** The object, its bytes not yet opened; undefined: nothing lies under the key, such as one that cannot lie in a folder. */
  async get(key: string): Promise<StoredFile | undefined> {
    return openStoredFile(this.#folder, key);
  }

  async head(key: string): Promise<ObjectMetadata | undefined> {
    return (await this.get(key))?.metadata;
  }

  /**
   * The objects under a prefix, only those behind the key `startAfter`, in the order of their keys' UTF-8 bytes. What is there
   * and cannot be an object, such as a FIFO or a name that no key has, is listed with its `damage`.
   */
  async *list(prefix: string, startAfter?: string): AsyncGenerator<ObjectMetadata> {
    const folder = this.#folder;
    for (const { key, problem } of walkKeys({ folder, prefix, startAfter })) {
      const metadata = problem === undefined ? readMetadata({ folder, path: key }) : irregularMetadata(key, problem);
      // Undefined: deleted since the folder was read.
      if (metadata !== undefined) yield metadata;
    }
  }

  /** What lies directly below a prefix, each once, in the order of keys: keys, and names of folders with their slash. */
  async *listNames(prefix: string): AsyncGenerator<{ readonly name: string; readonly damage?: string | undefined }> {
    for (const { key, problem } of walkNames({ folder: this.#folder, prefix })) yield { name: key, damage: problem };
  }

  /** Removes the object; an absent one is fine. */
  async delete(key: string): Promise<void> {
    if ((await this.get(key)) === undefined) return;
    await rm(join(this.#folder, key), { force: true });
    await rm(join(this.#folder, descriptionPath(key)), { force: true });
  }

  /** Makes the object visible: first its description, then its bytes. Nothing else of this process runs in between. */
  #commit(received: string, metadata: ObjectMetadata, ifNoneMatch: boolean): void {
    const { key } = metadata;
    const data = join(this.#folder, key);
    const description = join(this.#folder, descriptionPath(key));
    try {
      const there = statSync(data, { throwIfNoEntry: false });
      if (there?.isDirectory() === true) throw inTheWay(key);
      if (ifNoneMatch && there !== undefined)
        throw new ObjectExistsError(`Storing ${JSON.stringify(key)} failed: there is an object under this key`);
      mkdirSync(dirname(data), { recursive: true });
      if (metadata.isBare !== true) {
        mkdirSync(dirname(description), { recursive: true });
        writeFileSync(`${received}.json`, JSON.stringify(metadata));
        renameSync(`${received}.json`, description);
      }
      renameSync(received, data);
    } catch (error) {
      throw isInTheWay(error) ? inTheWay(key, error) : error;
    }
  }
}

function inTheWay(key: string, cause?: unknown): InvalidKeyError {
  return new InvalidKeyError(
    `Storing ${JSON.stringify(key)} in a folder failed: a file cannot be a folder of others too; use another key`,
    { cause },
  );
}

function isInTheWay(error: unknown): boolean {
  return ['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ERR_FS_EISDIR'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}

/** Writes a body to a new file; `etag` is its MD5 in lower-case hex. A body that throws leaves the file to the caller. */
async function receiveBody(
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
