import type { Content } from '../archive/archive-object';
import type { EncodedBy } from '../resources';

/** Where the content of a body goes. */
export interface Destination {
  readonly encodedBy: EncodedBy;
  /** @returns resolves when more may come; undefined: at once. @throws SpoolError */
  write(content: Buffer): Promise<void> | undefined;
  /** To be called after the last content. @returns the compressed content @throws SpoolError */
  end(): Promise<Content>;
  /** Forgets the content; safe at any time and more than once. */
  release(): Promise<void>;
}
