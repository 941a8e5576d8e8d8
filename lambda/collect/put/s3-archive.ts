import { isNativeError } from 'node:util/types';
import { type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { Clock } from '../../clock';
import type { ArchiveObject } from './archive-object';
import { ConditionalPut, clockSkewError, notStoredError } from './conditional-put';

/** The archive did not take an object. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/**
 * What became of a put. `answer-lost`: an object lies under the key, and it may be this one, because an earlier request of
 * the same put had no usable answer. `would-archive`: nothing was stored, the run is a dry one.
 */
export type PutResult = 'archived' | 'already-archived' | 'answer-lost' | 'would-archive';

/** The archive as it is written to. */
export interface Archive {
  readonly bucket: string;
  /** @throws ArchiveError; the signal's reason when it aborts */
  put(object: ArchiveObject, signal: AbortSignal): Promise<PutResult>;
}

/** The archive of a dry run: it takes every object and stores none. */
export class DryArchive implements Archive {
  readonly bucket: string;

  constructor(bucket: string) {
    this.bucket = bucket;
  }

  async put(_object: ArchiveObject, signal: AbortSignal): Promise<PutResult> {
    signal.throwIfAborted();
    return 'would-archive';
  }
}

/** No put is retried by the SDK, which does not see them. */
const putLimits = { attempts: 4, firstDelayMs: 200 } as const;

/** The bucket as it is written to: nothing is ever overwritten. */
export class S3Archive implements Archive {
  readonly bucket: string;
  readonly #clock: Clock;
  readonly #put: ConditionalPut;

  constructor(client: S3Client, bucket: string, clock: Clock) {
    this.bucket = bucket;
    this.#clock = clock;
    this.#put = new ConditionalPut(client, bucket);
  }

  /**
   * Writes one object whole, or nothing; never over an existing one.
   * @throws ArchiveError; the signal's reason when it aborts
   */
  async put(object: ArchiveObject, signal: AbortSignal): Promise<PutResult> {
    let isAnswerLost = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#put.send(object, signal);
        return 'archived';
      } catch (error) {
        signal.throwIfAborted();
        const status = statusOf(error);
        if (status === 412) return isAnswerLost ? 'answer-lost' : 'already-archived';
        if (!isTransient(error, status) || attempt === putLimits.attempts) throw this.#failed(object.key, error);
        // With a status from 400 to 499 S3 has stored nothing.
        isAnswerLost ||= status === undefined || status < 400 || status >= 500;
        await this.#clock.sleep(this.#clock.random() * putLimits.firstDelayMs * 2 ** attempt, signal);
      }
    }
  }

  #failed(key: string, cause: unknown): ArchiveError {
    const status = statusOf(cause);
    const reason = isNativeError(cause) ? `${cause.name}: ${cause.message}` : String(cause);
    const answer = status === undefined ? reason : `${status} ${reason}`;
    return new ArchiveError(`PUT s3://${this.bucket}/${key} failed: ${answer}${advice(cause, status)}`, { cause });
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** Errors that another request may not get, although their status says otherwise: the body was late or damaged on its way. */
const passingErrors = ['RequestTimeout', 'BadDigest', 'IncompleteBody', clockSkewError, notStoredError];

/** No answer, or one that is worth retrying. 409: two conditional writes met. */
function isTransient(error: unknown, status: number | undefined): boolean {
  if (status === undefined) return isNativeError(error);
  return [408, 409, 429].includes(status) || status >= 500 || isNamed(error, passingErrors);
}

function isNamed(error: unknown, names: readonly string[]): boolean {
  return isNativeError(error) && names.includes(error.name);
}

function advice(error: unknown, status: number | undefined): string {
  if (isNamed(error, [clockSkewError])) return '; set the clock of this machine';
  return status === 403 ? "; check the function's role and the policies of the bucket and its KMS key" : '';
}
