import { createHash, hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { types } from 'node:util';
import * as zlib from 'node:zlib';
import { DamagedObjectError } from '../format/damaged-object-error';
import { type ObjectName, parseObjectKey } from '../format/keys';
import { type ObjectFacts, readObjectMetadata } from '../format/object-metadata';
import { problems } from '../format/problems';
import { type Body, discard, type OpenedObject, smallBytes, wrongChecksum } from './archive-reader';

/** An object that says what it is. Its body is the uncompressed content. */
export interface OpenedContent extends OpenedObject {
  readonly facts: ObjectFacts;
}

/**
 * Opens an object for its content, which is compared with the object's own metadata: at once if it is small, and while it is
 * read otherwise. A stream of it ends with a DamagedObjectError if it is another, or with whatever the body as stored ends with.
 * @throws DamagedObjectError if the object does not say what it is, or says what it cannot be
 */
export function openContent(key: string, opened: OpenedObject): OpenedContent {
  const facts = factsOf(key, opened);
  const { body, storedBytes } = opened;
  const isSmall = !(body instanceof Readable) && facts.length <= smallBytes;
  return { ...opened, facts, body: isSmall ? [wholeContent(body[0], facts)] : streamOf(body, facts, storedBytes) };
}

/** What an object says that it is; its body is destroyed if that cannot be. */
function factsOf(key: string, opened: OpenedObject): ObjectFacts {
  const name = parseObjectKey(key);
  const facts = readObjectMetadata(opened.metadata);
  const problem = name === undefined ? noName : contradiction(name, facts);
  if (name === undefined || facts === undefined || problem !== undefined) {
    discard(opened.body);
    throw new DamagedObjectError(problem);
  }
  return facts;
}

const noName = 'its key is not one of an archive';

function contradiction(name: ObjectName, facts: ObjectFacts | undefined): string | undefined {
  if (facts === undefined) return problems.badMetadata;
  if (facts.resource !== name.resource) return `its key says ${name.resource}, its metadata ${facts.resource}`;
  if (facts.cluster !== name.cluster) return `its key says cluster ${name.cluster}, its metadata ${facts.cluster}`;
  if (facts.run.getTime() !== name.run.getTime())
    return `its key says the run of ${name.run.toISOString()}, its metadata ${facts.run.toISOString()}`;
  return undefined;
}

function wholeContent(stored: Buffer, facts: ObjectFacts): Buffer {
  const whole = gunzipWhole(stored, facts.length, tooLong(facts));
  checkContent(facts, whole.length, hash('sha256', whole));
  return whole;
}

function streamOf(stored: Body, facts: ObjectFacts, storedBytes: number): Readable {
  // The callback is for the stream's error, which its reader sees as well.
  const undo = pipeline(stored, zlib.createGunzip({ chunkSize: 64 * 1024 }), () => {});
  const content = async function* () {
    const sha256 = createHash('sha256');
    let length = 0;
    for await (const chunk of undo as AsyncIterable<Buffer>) {
      length += chunk.length;
      // A few bytes can decompress to very many.
      if (length > facts.length) throw new DamagedObjectError(tooLong(facts));
      sha256.update(chunk);
      yield chunk;
    }
    checkContent(facts, length, sha256.digest('hex'));
    if (undo.bytesWritten !== storedBytes) throw new DamagedObjectError(somethingFollows);
  };
  return Readable.from(content(), { objectMode: false }).once('close', () => undo.destroy());
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

/** @throws DamagedObjectError if the facts say another content */
function checkContent(facts: ObjectFacts, length: number, sha256: string): void {
  if (length !== facts.length)
    throw new DamagedObjectError(`its content has ${length} bytes, its metadata says ${facts.length}`);
  if (sha256 !== facts.sha256) throw new DamagedObjectError('its content does not have the SHA-256 its metadata says');
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
  if (/^checksum mismatch/i.test(error.message)) return wrongChecksum;
  return undefined;
}
