/** Content kept for one PutObject: in memory, or in a file that can be read again for a retry. */
export type SpooledContent = Buffer | { readonly file: string; readonly length: number };

/** One object to be archived. */
export interface ArchiveObject {
  readonly key: string;
  readonly content: SpooledContent;
  readonly contentType: string;
  readonly contentEncoding?: string | undefined;
  /** User metadata, names without prefix. */
  readonly metadata?: Record<string, string> | undefined;
}
