import type { Readable } from 'node:stream';

/** What an object carries beside its bytes, given by its writer. */
export interface ObjectHeaders {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  /** By name without `x-amz-meta-`, lower case. */
  readonly userMetadata?: Readonly<Record<string, string>>;
  /** Base64 by algorithm: `crc32`, `crc32c`, `crc64nvme`, `sha1`, `sha256`. */
  readonly checksums?: Readonly<Record<string, string>>;
  /** Further headers to answer a GET with, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ObjectMetadata extends ObjectHeaders {
  readonly key: string;
  /** Bytes that lie in the folder. */
  readonly size: number;
  /** Lower-case hex, without quotes. */
  readonly etag: string;
  /** ISO 8601 in UTC with milliseconds. */
  readonly lastModified: string;
  readonly userMetadata: Readonly<Record<string, string>>;
  readonly checksums: Readonly<Record<string, string>>;
}

export interface StoredObject {
  readonly metadata: ObjectMetadata;
  /** Opens the bytes, or those from `start` to `end`, both inclusive. */
  open(range?: { readonly start: number; readonly end: number }): Readable;
}

export interface ListOptions {
  /** Only keys behind this one. */
  readonly startAfter?: string | undefined;
  /** Objects and common prefixes in one page; left out: all. */
  readonly maxKeys?: number | undefined;
  readonly delimiter?: string | undefined;
}

export interface ListPage {
  readonly objects: readonly ObjectMetadata[];
  /** In order, each once; only with a delimiter. */
  readonly commonPrefixes: readonly string[];
  /** The `startAfter` of the next page; undefined: this is the last. */
  readonly next?: string | undefined;
}

/**
 * Objects in a folder: the bytes of one lie at `<folder>/<key>`, what else is known of it at
 * `<folder>/.metadata/<key>.json`.
 */
export class FolderStore {
  constructor(readonly folder: string) {}

  /**
   * Stores an object once its body has arrived whole; a body that throws leaves nothing.
   * @param headers a function is called after the body's end, for what only then is known
   * @throws ObjectExistsError with `ifNoneMatch`, if there is one under this key
   * @throws InvalidKeyError for a key that cannot lie in a folder
   */
  put(
    _key: string,
    _body: AsyncIterable<Uint8Array> | Buffer,
    _headers: ObjectHeaders | (() => ObjectHeaders),
    _options: { readonly ifNoneMatch?: boolean } = {},
  ): Promise<ObjectMetadata> {
    throw new Error('not written yet');
  }

  /** The object, its bytes not yet opened; undefined if there is none. */
  get(_key: string): Promise<StoredObject | undefined> {
    throw new Error('not written yet');
  }

  head(_key: string): Promise<ObjectMetadata | undefined> {
    throw new Error('not written yet');
  }

  /** One page of the keys under a prefix, in the order of their UTF-8 bytes; reads only the folders it needs. */
  list(_prefix: string, _options: ListOptions = {}): Promise<ListPage> {
    throw new Error('not written yet');
  }

  /** Removes the object; an absent one is fine. */
  delete(_key: string): Promise<void> {
    throw new Error('not written yet');
  }
}

/** There is an object under the key, and the writer asked for none to be there. */
export class ObjectExistsError extends Error {
  override readonly name = 'ObjectExistsError';
}

/** The key cannot lie in a folder. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}
