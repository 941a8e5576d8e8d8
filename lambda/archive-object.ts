/** Content kept for one PutObject: in memory, or in a file that can be read again for a retry. */
export type SpooledContent = Buffer | SpooledFile;

export interface SpooledFile {
  readonly file: string;
  /** In bytes. */
  readonly length: number;
  /** Of what was written, unsigned; what is read back later has to match it. */
  readonly crc32: number;
}

/** One object to be archived. */
export interface ArchiveObject {
  readonly key: string;
  readonly content: SpooledContent;
  readonly contentType: string;
  readonly contentEncoding?: string | undefined;
  /** User metadata, names without prefix. */
  readonly metadata?: Record<string, string> | undefined;
}
