import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Content } from '../put/archive-object';

/** Keeping a body failed because the local disk did not take it. */
export class SpoolError extends Error {
  override readonly name = 'SpoolError';
}

/** Bytes of one body that stay in memory; what is longer goes to a file, whole. */
export const memoryLimitBytes = 1024 * 1024;

/**
 * How much of a file is read at once, in bytes. More is no faster, and leaves more garbage: with 16 KB, a body of 1 GB takes up
 * to 23 MB more than one of 200 MB, and with this 10 MB.
 */
const fileReadBytes = 8 * 1024;

let created = 0;

/** A bounded buffer that spills: keeps a short body in memory, and a long one in a file. */
export class Spool {
  readonly #path: string;
  #chunks: Buffer[] = [];
  #length = 0;
  #crc32 = 0;
  #file: FileHandle | undefined;
  #hasFile = false;
  #writing: Promise<void> = Promise.resolve();

  /** @param directory must exist, see {@link emptySpoolDirectory} */
  constructor(directory: string) {
    created += 1;
    this.#path = join(directory, `body-${process.pid}-${created}`);
  }

  /** Resolves when the next chunk may be written. @throws SpoolError */
  write(chunk: Buffer): Promise<void> {
    this.#writing = this.#append(chunk);
    return this.#writing;
  }

  /** To be called after the last chunk. The caller releases the content with {@link release}. */
  async end(): Promise<Content> {
    if (!this.#hasFile) return Buffer.concat(this.#chunks);
    await this.#closeFile();
    const open = () => createReadStream(this.#path, { highWaterMark: fileReadBytes });
    return { length: this.#length, crc32: this.#crc32, open };
  }

  /** Forgets the content and removes its file; safe at any time and more than once. */
  async release(): Promise<void> {
    this.#chunks = [];
    // A write under way when the body broke off could otherwise make the file after it was removed. Its caller got
    // its error.
    await this.#writing.catch(() => undefined);
    await this.#closeFile();
    // Asking the disk costs more than all else that is done for a short body.
    if (this.#hasFile) await rm(this.#path, { force: true });
  }

  async #append(chunk: Buffer): Promise<void> {
    this.#length += chunk.length;
    this.#crc32 = crc32(chunk, this.#crc32);
    if (!this.#hasFile && this.#length <= memoryLimitBytes) {
      this.#chunks.push(chunk);
      return;
    }
    try {
      this.#hasFile = true;
      this.#file ??= await open(this.#path, 'wx', 0o600);
      for (const part of [...this.#chunks.splice(0), chunk]) await this.#file.writeFile(part);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      const advice =
        code === 'ENOSPC'
          ? ': the disk for temporary files is full; lower limits.concurrency or limits.maxBodyMiB'
          : '';
      throw new SpoolError(`Keeping a body of more than ${this.#length} bytes failed: ${code}${advice}`, {
        cause: error,
      });
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

/**
 * Makes the directory for spooled bodies, empty: an execution environment works on one invocation at a time, so its
 * files are those of a predecessor that was killed.
 */
export async function emptySpoolDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
}
