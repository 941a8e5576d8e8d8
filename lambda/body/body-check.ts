import type { BodyFacts } from '../resources';

/** Checks one body while it arrives, in chunks split anywhere, and hands on the bytes that are to be archived. */
export interface BodyCheck {
  /**
   * @returns the bytes to archive that this chunk completes: the chunk itself, a decoded form, or none yet
   * @throws InvalidBodyError as soon as the body is known to be wrong
   */
  write(chunk: Buffer): Buffer;
  /**
   * To be called once, after the last chunk of a body that arrived whole.
   * @throws InvalidBodyError if the body is not what was asked for
   */
  end(): BodyFacts;
}

/** The body arrived but is not what was asked for. Asking again does not help. */
export class InvalidBodyError extends Error {
  override readonly name = 'InvalidBodyError';
}

/** The body cannot be decoded as its media type promises; it may be read again and kept as received. */
export class NotDecodableError extends Error {
  override readonly name = 'NotDecodableError';
}
