import { createHash, type Hash, hash } from 'node:crypto';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { types } from 'node:util';
import * as zlib from 'node:zlib';
import { formerKeyProblem, type ObjectName, parseObjectKey } from '../archive/archive-layout';
import { type ObjectFacts, readObjectMetadata } from '../archive/object-metadata';
import { DamagedObjectError, type OpenedObject, smallBytes } from './archive-reader';

/** An object that says what it is. */
export interface OpenedContent extends OpenedObject {
  readonly facts: ObjectFacts;
}

export interface ReadContent extends Omit<OpenedContent, 'body'> {
  /** The checked content: of a small object in one piece, of a large one as {@link openContent} gives it. */
  readonly body: Readable | readonly [Buffer];
}

/**
 * Opens an object for its content: the body is the uncompressed content, checked against the object's own metadata while it
 * is read. It ends with a DamagedObjectError if it is another, or with whatever the body as stored ends with.
 * @throws DamagedObjectError if the object does not say what it is, or says what it cannot be
 */
export function openContent(key: string, opened: OpenedObject): OpenedContent {
  return streamContent(opened, factsOf(key, opened));
}

/**
 * The same for a reader that wants all of a small object: its content is read and checked at once, which takes half of
 * the time that a stream of it takes. A large object is opened.
 * @throws what {@link openContent} throws, and what the body of a small object would have ended with
 */
export async function readContent(key: string, opened: OpenedObject): Promise<ReadContent> {
  const facts = factsOf(key, opened);
  if (opened.storedBytes > smallBytes || facts.length > smallBytes) return streamContent(opened, facts);
  const { storedBytes, contentType, contentEncoding, metadata, isBare } = opened;
  const body = [await readSmall(opened, facts)] as const;
  return { storedBytes, contentType, contentEncoding, metadata, isBare, facts, body };
}

/** What an object says that it is; its body is destroyed if that cannot be. */
function factsOf(key: string, opened: OpenedObject): ObjectFacts {
  const name = parseObjectKey(key);
  const facts = readObjectMetadata(opened.metadata);
  const problem = name === undefined ? (formerKeyProblem(key) ?? noName) : contradiction(name, facts);
  if (name === undefined || facts === undefined || problem !== undefined) {
    opened.body.destroy();
    throw new DamagedObjectError(problem);
  }
  return facts;
}

const noName = 'its key is not one of an archive';

function contradiction(name: ObjectName, facts: ObjectFacts | undefined): string | undefined {
  if (facts === undefined) return 'its metadata is absent or malformed';
  if (facts.resource !== name.resource) return `its key says ${name.resource}, its metadata ${facts.resource}`;
  if (facts.cluster !== name.cluster) return `its key says cluster ${name.cluster}, its metadata ${facts.cluster}`;
  if (facts.run.getTime() !== name.run.getTime())
    return `its key says the run of ${name.run.toISOString()}, its metadata ${facts.run.toISOString()}`;
  return undefined;
}

function streamContent(opened: OpenedObject, facts: ObjectFacts): OpenedContent {
  const { storedBytes, contentType, contentEncoding, metadata, isBare, body: stored } = opened;
  const undo = zlib.createGunzip({ chunkSize: 64 * 1024 });
  const check = contentCheck(facts, () => undo.bytesWritten === storedBytes);
  // The callback is for the stream's error, which the reader of `body` sees as well.
  const body = pipeline(stored, undo, check, () => {});
  return { storedBytes, contentType, contentEncoding, metadata, isBare, facts, body };
}

/**
 * Undoes gzip at once, in this thread: to hand a small object to another thread takes longer than the work.
 * @param mostBytes most content that it may have; more is damage, with these words
 * @throws DamagedObjectError if it is anything but sound gzip
 */
export function gunzipWhole(stored: Buffer, mostBytes: number, tooLong: string): Buffer {
  const maxOutputLength = Math.max(1, mostBytes);
  // A single chunk saves most of the calls.
  const chunkSize = Math.max(zlib.constants.Z_MIN_CHUNK, Math.min(maxOutputLength, smallBytes) + 1);
  const options = { info: true, chunkSize, maxOutputLength };
  try {
    const { buffer, engine } = zlib.gunzipSync(stored, options) as unknown as Gunzipped;
    if (engine.bytesWritten === stored.length) return buffer;
  } catch (cause) {
    const damage = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLong : damageOf(cause);
    throw damage === undefined ? cause : new DamagedObjectError(damage, { cause });
  }
  throw new DamagedObjectError(somethingFollows);
}

/** What zlib gives with the option `info`. */
interface Gunzipped {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

async function readSmall(opened: OpenedObject, facts: ObjectFacts): Promise<Buffer> {
  const whole = gunzipWhole(opened.bytes ?? (await bytesOf(opened.body)), facts.length, tooLong(facts));
  checkContent(facts, whole.length, hash('sha256', whole));
  return whole;
}

async function bytesOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @throws DamagedObjectError if the facts say another content */
function checkContent(facts: ObjectFacts, length: number, sha256: string): void {
  if (length !== facts.length)
    throw new DamagedObjectError(`its content has ${length} bytes, its metadata says ${facts.length}`);
  if (sha256 !== facts.sha256) throw new DamagedObjectError('its content does not have the SHA-256 its metadata says');
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
    checkContent(this.#facts, this.#length, this.#hash.digest('hex'));
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
  if (error instanceof DamagedObjectError) return error.message;
  // Not instanceof: errors of Node.js may come from another realm.
  if (!types.isNativeError(error)) return undefined;
  if (/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) return `it cannot be decompressed: ${error.message}`;
  if (/^checksum mismatch/i.test(error.message)) return 'the stored bytes do not have the checksum S3 keeps of them';
  return undefined;
}
