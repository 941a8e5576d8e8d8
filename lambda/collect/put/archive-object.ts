import type { Readable } from 'node:stream';

/** Content for one PutObject: in memory, or read anew for each attempt to send it. */
export type Content = Buffer | LongContent;

/** Content that is too long to be in memory. */
export interface LongContent {
  /** In bytes. */
  readonly length: number;
  /** Of the whole content, unsigned; what is read later has to match it. */
  readonly crc32: number;
  /** The content from its beginning. */
  open(): Readable;
}

export interface ArchiveObject {
  readonly key: string;
  readonly content: Content;
  readonly contentType: string;
  readonly contentEncoding?: string | undefined;
  /** User metadata, names without prefix. */
  readonly metadata?: Record<string, string> | undefined;
}
