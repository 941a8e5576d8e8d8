import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { DamagedObjectError } from '../format/damaged-object-error';
import { checksumText } from '../format/object-headers';

/** One object of a listing. */
export interface ListedObject {
  readonly key: string;
  /** Length of the object as stored, in bytes. */
  readonly storedBytes: number;
  /** When the object was written to this archive. In a copy of an archive it is the time of the copy. */
  readonly writtenAt: Date;
  /** Why it cannot be an object of the archive, whatever its key: in a folder, whatever is not a regular file. */
  readonly damage?: string | undefined;
}

/** What lies directly below a prefix: the key of an object, or what keys have in common up to their next slash. */
export interface ListedName {
  /** With a slash at its end unless it is a key. */
  readonly name: string;
  readonly damage?: ListedObject['damage'];
}

export interface ObjectHead {
  /** Length of the object as stored, in bytes. */
  readonly storedBytes: number;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  /** User metadata: names without the `x-amz-meta-` prefix, values as stored. */
  readonly metadata: Readonly<Record<string, string | undefined>>;
  /** Whether nothing is known of it but its bytes: a file in a copy that was made without metadata. Then `metadata` is what they say. */
  readonly isBare?: boolean | undefined;
}

/** An object that has an older version, or that was deleted. */
export interface ReplacedObject {
  readonly key: string;
  /** When it was deleted, or when the version that is no longer the current one was written. */
  readonly at: Date;
}

export interface OpenedObject extends ObjectHead {
  /** By the clock of S3; of a folder it is not known. */
  readonly writtenAt?: Date | undefined;
  /** Of a bucket with versions. */
  readonly versionId?: string | undefined;
  /**
   * The bytes as stored. A stream ends with a DamagedObjectError if the archive has a checksum of the stored bytes and it is
   * another; what is in one piece was compared.
   */
  readonly body: Body;
}

/** Bytes in one piece, or as a stream, which is read to its end or discarded. */
export type Body = readonly [Buffer] | Readable;

/** Most bytes of an object, as stored or not, that are read in one piece: a stream of them takes several times as long. */
export const smallBytes = 1024 * 1024;

/** For what is not read to its end. */
export function discard(body: Body, reason?: Error): void {
  if (body instanceof Readable) body.destroy(reason);
}

/**
 * Reads an archive in a bucket or in a folder, and cannot write. Every method
 * @throws ArchiveReadError if the archive cannot be read
 */
export interface ArchiveReader {
  /** The bucket or the folder, as the user named it. */
  readonly location: string;
  /** Paths that were passed over because a file manager left them there; left out: nothing is. */
  readonly passedOver?: ReadonlySet<string>;
  /** Ends the reading: what is under way then ends with its reason. Left out: nothing does. */
  readonly signal?: AbortSignal;
  /** Objects whose keys begin with `prefix` and come behind `after`, in the order of their keys' UTF-8 bytes. */
  list(prefix: string, after?: string): AsyncIterable<ListedObject>;
  /** What lies directly below `prefix`, each once. S3 gives 1,000 names an answer, however many keys they stand for. */
  listNames(prefix: string): AsyncIterable<ListedName>;
  /** The time by the archive's own clock; undefined: it has none, and the machine's counts. */
  time(): Promise<Date | undefined>;
  /**
   * Objects that were deleted or overwritten; none where the archive keeps no versions. Left out: it keeps none.
   * @throws ArchiveReadError; a lasting one where they may not be asked for
   */
  replaced?(prefix: string): Promise<readonly ReplacedObject[]>;
  /** Whether something lies under a key, whatever it is. Left out: that takes a request. @throws ArchiveReadError */
  has?(key: string): boolean;
  /** Undefined if there is no such object. */
  head(key: string): Promise<ObjectHead | undefined>;
  /** Undefined if there is no such object. @throws DamagedObjectError if the archive cannot say what it is */
  open(key: string): Promise<OpenedObject | undefined>;
}

/** The archive cannot be read: it is absent, access is denied, or the connection broke. This says nothing about its content. */
export class ArchiveReadError extends Error {
  override readonly name = 'ArchiveReadError';
  /** Whether asking again would end in the same way: the answer was a refusal. */
  readonly isLasting: boolean;

  constructor(
    message: string,
    { isLasting = false, ...options }: ErrorOptions & { readonly isLasting?: boolean } = {},
  ) {
    super(message, options);
    this.isLasting = isLasting;
  }
}

export const wrongChecksum = 'the stored bytes do not have the checksum they were written with';

/**
 * Compares stored bytes with the checksum that the archive keeps of them.
 * @param expected their CRC-32 in base64, as S3 has it; undefined: the archive keeps none
 * @throws DamagedObjectError
 */
export function compareChecksum(sum: number, expected: string | undefined): void {
  if (expected !== undefined && checksumText(sum) !== expected) throw new DamagedObjectError(wrongChecksum);
}

/** The same of a stream, at its end. */
export function checkedStream(stored: Readable, expected: string | undefined): Readable {
  const checked = async function* () {
    let sum = 0;
    for await (const chunk of stored as AsyncIterable<Buffer>) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
    compareChecksum(sum, expected);
  };
  return Readable.from(checked(), { objectMode: false }).once('close', () => stored.destroy());
}
