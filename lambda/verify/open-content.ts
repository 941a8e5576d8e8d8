import { createHash, type Hash } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import { types } from 'node:util';
import * as zlib from 'node:zlib';
import { parseObjectKey } from '../archive/archive-layout';
import { type ObjectFacts, readObjectMetadata } from '../archive/object-metadata';
import type { Compression } from '../stack-contract';
import type { ArchiveReader, ObjectHead } from './archive-reader';

/** The content is not what was archived, or no longer readable at all. */
export class DamagedObjectError extends Error {
  override readonly name = 'DamagedObjectError';
}

export interface OpenedContent extends ObjectHead {
  readonly facts: ObjectFacts;
  /** As the key says it. */
  readonly compression: Compression;
  /**
   * The uncompressed content, checked against the object's own metadata while it is read. Ends with a DamagedObjectError
   * if it is another, an UnreadableCompressionError, or whatever the archive's body ends with.
   */
  readonly body: Readable;
}

/**
 * Opens an object for its content; undefined if there is none.
 * @throws DamagedObjectError if the object does not say what it is, or says what it cannot be
 * @throws UnreadableCompressionError if this Node.js cannot undo its compression
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function openContent(reader: ArchiveReader, key: string): Promise<OpenedContent | undefined> {
  const name = parseObjectKey(key);
  if (name === undefined) throw new DamagedObjectError('its key is not one of an archive');
  const undo = decompressor(name.compression);
  const opened = await reader.open(key);
  if (opened === undefined) return undefined;
  const facts = readObjectMetadata(opened.metadata);
  const problem = facts === undefined ? 'its metadata is absent or malformed' : contradiction(name, facts);
  if (facts === undefined || problem !== undefined) {
    opened.body.destroy();
    throw new DamagedObjectError(problem);
  }
  const check = new ContentCheck(facts, () => undo.bytesWritten === opened.storedBytes);
  // The reader of `body` sees the error of each stream; the callback only keeps it from counting as unhandled.
  const body = pipeline(opened.body, undo, check, () => {});
  return { ...opened, facts, compression: name.compression, body };
}

function contradiction(name: { resource: string; cluster: string; run: Date }, facts: ObjectFacts): string | undefined {
  if (facts.resource !== name.resource) return `its key says ${name.resource}, its metadata ${facts.resource}`;
  if (facts.cluster !== name.cluster) return `its key says cluster ${name.cluster}, its metadata ${facts.cluster}`;
  if (facts.run.getTime() !== name.run.getTime())
    return `its key says the run of ${name.run.toISOString()}, its metadata ${facts.run.toISOString()}`;
  return undefined;
}

/** Passes content on while it can be what the facts say, and compares it with them at its end. */
class ContentCheck extends Transform {
  readonly #facts: ObjectFacts;
  readonly #isUsedUp: () => boolean;
  readonly #hash: Hash = createHash('sha256');
  #length = 0;

  /** @param isUsedUp whether the decompressor used all stored bytes */
  constructor(facts: ObjectFacts, isUsedUp: () => boolean) {
    super();
    this.#facts = facts;
    this.#isUsedUp = isUsedUp;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error, chunk?: Buffer) => void): void {
    this.#length += chunk.length;
    // A few bytes can decompress to very many: content that is longer than it may be is not read to its end.
    if (this.#length > this.#facts.length) {
      done(new DamagedObjectError(`its content is longer than the ${this.#facts.length} bytes its metadata says`));
      return;
    }
    this.#hash.update(chunk);
    done(undefined, chunk);
  }

  override _flush(done: (error?: Error) => void): void {
    if (this.#length !== this.#facts.length)
      done(new DamagedObjectError(`its content has ${this.#length} bytes, its metadata says ${this.#facts.length}`));
    else if (this.#hash.digest('hex') !== this.#facts.sha256)
      done(new DamagedObjectError('its content does not have the SHA-256 its metadata says'));
    else if (!this.#isUsedUp()) done(new DamagedObjectError('something else follows its compressed content'));
    else done();
  }
}

/**
 * What is wrong with an object whose body ended with this error; undefined if the error says nothing about the object.
 * zlib and the SDK have no error classes for it.
 */
export function damageOf(error: unknown): string | undefined {
  // Not instanceof: errors of Node.js may come from another realm.
  if (!types.isNativeError(error)) return undefined;
  if (error.name === 'DamagedObjectError' || error.name === 'ChecksumError') return error.message;
  if (/^(Z_|ZSTD_)/.test((error as NodeJS.ErrnoException).code ?? ''))
    return `it cannot be decompressed: ${error.message}`;
  if (/^checksum mismatch/i.test(error.message)) return 'the stored bytes do not have the checksum S3 keeps of them';
  return undefined;
}

/** The content is stored in a way this Node.js cannot read. */
export class UnreadableCompressionError extends Error {
  override readonly name = 'UnreadableCompressionError';
}

/** A decompressor of Node.js; `bytesWritten` counts the compressed bytes that it used. */
export type Decompressor = Transform & { readonly bytesWritten: number };

/**
 * A stream that undoes a compression.
 * @throws UnreadableCompressionError for zstd on a Node.js that has none
 */
export function decompressor(compression: Compression): Decompressor {
  if (compression === 'gzip') return zlib.createGunzip();
  // Node.js has it from 22.15 on, and the types are those of the oldest Node.js that the project runs on.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Decompressor };
  if (createZstdDecompress === undefined)
    throw new UnreadableCompressionError(
      `it is compressed with zstd, which Node.js ${process.versions.node} cannot read: use Node.js 22.15 or newer`,
    );
  return createZstdDecompress();
}
