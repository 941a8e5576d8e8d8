import type { BodyFacts } from '../../../archive/format/resources';

/** Checks one body while it arrives, in chunks split anywhere, and hands on the bytes to archive. */
export interface BodyCheck {
  /**
   * @returns the bytes to archive that this chunk completes: the chunk itself, a decoded form, or none yet
   * @throws InvalidBodyError as soon as the body is known to be wrong
   * @throws NotDecodableError
   */
  write(chunk: Buffer): Buffer;
  /**
   * Call this once, after the last chunk of a body that arrived whole.
   * @throws InvalidBodyError if the body is not what was asked for
   * @throws NotDecodableError
   */
  end(): BodyFacts;
  /** Whether the bytes to archive are certainly those of the body, unchanged. */
  readonly isAsReceived: boolean;
  /** Whether the body has named the cluster that was asked for. Left out: it never does. */
  readonly namesItsCluster?: boolean;
}

/** The body is not what was asked for, or too long. Asking again does not help. */
export class InvalidBodyError extends Error {
  override readonly name = 'InvalidBodyError';
  /** Whether the body names another cluster than the one that was asked for. */
  readonly namesAnother: boolean;

  constructor(message: string, { cause, namesAnother = false }: { cause?: unknown; namesAnother?: boolean } = {}) {
    super(message, { cause });
    this.namesAnother = namesAnother;
  }
}

/** The body cannot be decoded as its media type promises. It may be requested again and kept as received. */
export class NotDecodableError extends Error {
  override readonly name = 'NotDecodableError';
}
