import { createHash, type Hash } from 'node:crypto';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { promisify, types } from 'node:util';
import * as zlib from 'node:zlib';
import { parseObjectKey } from '../archive/archive-layout';
import { type ObjectFacts, readObjectMetadata } from '../archive/object-metadata';
import type { Compression } from '../stack-contract';
import type { ArchiveReader, OpenedObject } from './archive-reader';

/** The content is not what was archived, or no longer readable at all. */
export class DamagedObjectError extends Error {
  override readonly name = 'DamagedObjectError';
}

/** An object that says what it is. */
interface DescribedObject extends OpenedObject {
  readonly facts: ObjectFacts;
  /** As the key says it. */
  readonly compression: Compression;
}

export interface OpenedContent extends DescribedObject {
  /**
   * The uncompressed content, checked against the object's own metadata while it is read. Ends with a DamagedObjectError
   * if it is another, an UnreadableCompressionError, or whatever the archive's body ends with.
   */
  readonly body: Readable;
}

export interface ReadContent extends Omit<OpenedContent, 'body'> {
  /** The checked content of a small object; of a large one as {@link OpenedContent} has it. */
  readonly body: Buffer | Readable;
}

/**
 * Opens an object for its content; undefined if there is none.
 * @throws DamagedObjectError if the object does not say what it is, or says what it cannot be
 * @throws UnreadableCompressionError if this Node.js cannot undo its compression
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function openContent(reader: ArchiveReader, key: string): Promise<OpenedContent | undefined> {
  const opened = await openDescribed(reader, key);
  return opened && streamContent(opened);
}

/** Most bytes of an object, compressed and not, that {@link readContent} reads at once. */
const smallBytes = 1024 * 1024;

/**
 * The same for a reader that wants all of a small object: its content is read and checked at once, which takes half of
 * the time that a stream of it takes. A large object is opened.
 * @throws what {@link openContent} throws, and what the body of a small object would have ended with
 */
export async function readContent(reader: ArchiveReader, key: string): Promise<ReadContent | undefined> {
  const opened = await openDescribed(reader, key);
  if (opened === undefined) return undefined;
  const isSmall = opened.storedBytes <= smallBytes && opened.facts.length <= smallBytes;
  if (!isSmall || opened.compression !== 'gzip') return streamContent(opened);
  return { ...opened, body: await readSmall(opened) };
}

async function openDescribed(reader: ArchiveReader, key: string): Promise<DescribedObject | undefined> {
  const name = parseObjectKey(key);
  if (name === undefined) throw new DamagedObjectError('its key is not one of an archive');
  const opened = await reader.open(key);
  if (opened === undefined) return undefined;
  const facts = readObjectMetadata(opened.metadata);
  const wrong = facts === undefined ? 'its metadata is absent or malformed' : contradiction(name, facts);
  const problem = opened.damage ?? wrong;
  if (facts === undefined || problem !== undefined) {
    opened.body.destroy();
    throw new DamagedObjectError(problem);
  }
  return { ...opened, facts, compression: name.compression };
}

function streamContent(described: DescribedObject): OpenedContent {
  const { facts, storedBytes, compression, body: stored } = described;
  let undo: Decompressor;
  try {
    undo = decompressor(compression);
  } catch (error) {
    stored.destroy();
    throw error;
  }
  const check = contentCheck(facts, () => undo.bytesWritten === storedBytes);
  // The callback is for the stream's error, which the reader of `body` sees as well.
  const body = pipeline(stored, undo, check, () => {});
  return { ...described, body };
}

const gunzip = promisify(zlib.gunzip);

/**
 * Undoes gzip at once.
 * @param mostBytes most content that it may have; more is damage, with these words
 * @throws DamagedObjectError if it is anything but sound gzip
 */
export async function gunzipWhole(stored: Buffer, mostBytes: number, tooLong: string): Promise<Buffer> {
  const maxOutputLength = Math.max(1, mostBytes);
  // A single chunk saves most of the calls.
  const chunkSize = Math.max(zlib.constants.Z_MIN_CHUNK, Math.min(maxOutputLength, smallBytes) + 1);
  const options = { info: true, chunkSize, maxOutputLength };
  const { buffer: content, engine } = (await gunzip(stored, options).catch((cause: NodeJS.ErrnoException) => {
    const damage = cause.code === 'ERR_BUFFER_TOO_LARGE' ? tooLong : damageOf(cause);
    throw damage === undefined ? cause : new DamagedObjectError(damage, { cause });
  })) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
  if (engine.bytesWritten !== stored.length) throw new DamagedObjectError(somethingFollows);
  return content;
}

async function readSmall({ facts, body }: DescribedObject): Promise<Buffer> {
  const stored: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) stored.push(chunk);
  const content = new ContentHash(facts);
  const whole = await gunzipWhole(Buffer.concat(stored), facts.length, tooLong(facts));
  content.update(whole);
  content.end();
  return whole;
}

function contradiction(name: { resource: string; cluster: string; run: Date }, facts: ObjectFacts): string | undefined {
  if (facts.resource !== name.resource) return `its key says ${name.resource}, its metadata ${facts.resource}`;
  if (facts.cluster !== name.cluster) return `its key says cluster ${name.cluster}, its metadata ${facts.cluster}`;
  if (facts.run.getTime() !== name.run.getTime())
    return `its key says the run of ${name.run.toISOString()}, its metadata ${facts.run.toISOString()}`;
  return undefined;
}

/**
 * Lets content through as long as it can be what the facts say, and compares it with them at its end.
 * @param isUsedUp whether all stored bytes were decompressed
 */
function contentCheck(facts: ObjectFacts, isUsedUp: () => boolean): Transform {
  const content = new ContentHash(facts);
  const checked = (check: () => void, done: TransformCallback, chunk?: Buffer) => {
    try {
      check();
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, chunk);
  };
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => checked(() => content.update(chunk), done, chunk),
    flush: (done) =>
      checked(() => {
        content.end();
        if (!isUsedUp()) throw new DamagedObjectError(somethingFollows);
      }, done),
  });
}

/** Length and SHA-256 of content, compared with an object's own metadata. */
class ContentHash {
  readonly #facts: ObjectFacts;
  readonly #hash: Hash = createHash('sha256');
  #length = 0;

  constructor(facts: ObjectFacts) {
    this.#facts = facts;
  }

  /** @throws DamagedObjectError as soon as it is too long: a few bytes can decompress to very many */
  update(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#facts.length) throw new DamagedObjectError(tooLong(this.#facts));
    this.#hash.update(chunk);
  }

  /** @throws DamagedObjectError if it is another content */
  end(): void {
    const { length, sha256 } = this.#facts;
    if (this.#length !== length)
      throw new DamagedObjectError(`its content has ${this.#length} bytes, its metadata says ${length}`);
    if (this.#hash.digest('hex') !== sha256)
      throw new DamagedObjectError('its content does not have the SHA-256 its metadata says');
  }
}

const somethingFollows = 'something else follows its compressed content';

function tooLong({ length }: ObjectFacts): string {
  return `its content is longer than the ${length} bytes its metadata says`;
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
type Decompressor = Transform & { readonly bytesWritten: number };

/**
 * A stream that undoes a compression.
 * @throws UnreadableCompressionError for zstd on a Node.js that has none
 */
function decompressor(compression: Compression): Decompressor {
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: 64 * 1024 });
  // Node.js has it from 22.15 on; the types are those of the oldest Node.js that the project runs on.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Decompressor };
  if (createZstdDecompress === undefined)
    throw new UnreadableCompressionError(
      `it is compressed with zstd, which Node.js ${process.versions.node} cannot read: use Node.js 22.15 or newer`,
    );
  return createZstdDecompress();
}
