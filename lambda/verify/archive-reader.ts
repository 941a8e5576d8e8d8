import type { Readable } from 'node:stream';

/** One object as a listing names it. */
export interface ListedObject {
  readonly key: string;
  /** Length of the object as stored, in bytes. */
  readonly storedBytes: number;
  /** When the object was written to where it lies now: a copied archive has the time of the copy. */
  readonly writtenAt: Date;
  /** User metadata, where the listing gives it without a further request. */
  readonly metadata?: ObjectHead['metadata'];
}

export interface ObjectHead {
  /** Length of the object as stored, in bytes. */
  readonly storedBytes: number;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  /** User metadata: names without the `x-amz-meta-` prefix, values as stored. */
  readonly metadata: Readonly<Record<string, string | undefined>>;
}

export interface OpenedObject extends ObjectHead {
  /**
   * The bytes as stored. The caller reads them to their end or destroys the stream. It ends with a ChecksumError if the
   * archive has a checksum of the stored bytes and it is another.
   */
  readonly body: Readable;
}

/**
 * The archive as a reader sees it, wherever it lies. Nothing here can write. Every method
 * @throws ArchiveReadError if the archive cannot be read
 */
export interface ArchiveReader {
  /** Where the archive lies, as its user named it. */
  readonly location: string;
  /** Objects whose keys begin with `prefix`, in the order of their keys' UTF-8 bytes; only those behind `after`. */
  list(prefix: string, after?: string): AsyncIterable<ListedObject>;
  /** The time by the archive's own clock; undefined: it has none, and the machine's counts. */
  time(): Promise<Date | undefined>;
  /** Undefined if there is no such object. */
  head(key: string): Promise<ObjectHead | undefined>;
  /** Undefined if there is no such object. */
  open(key: string): Promise<OpenedObject | undefined>;
}

/** The archive itself cannot be read: absent, forbidden, or the connection broke. Says nothing about its content. */
export class ArchiveReadError extends Error {
  override readonly name = 'ArchiveReadError';
}

/** The stored bytes are not the ones that were written, by the archive's own checksum of them. */
export class ChecksumError extends Error {
  override readonly name = 'ChecksumError';
}
