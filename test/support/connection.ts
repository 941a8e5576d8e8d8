import { Readable } from 'node:stream';
import type {
  ArchiveReader,
  ListedName,
  ListedObject,
  ObjectHead,
  OpenedObject,
} from '../../archive/read/archive-reader';
import type { ArchiveObject } from '../../lambda/collect/put/archive-object';
import type { Archive } from '../../lambda/collect/put/s3-archive';
import type { MemoryBucket } from '../archive/prove/history/memory-bucket';

/** The process was killed: nothing of it happens any more. */
export class KilledError extends Error {
  override readonly name = 'KilledError';
}

export interface ConnectionOptions {
  readonly bucket: MemoryBucket;
  /** The time by S3's clock. */
  readonly time: () => Date;
  /** Waits before each request, so that others go first. */
  readonly wait?: (() => Promise<void>) | undefined;
  /** Requests until the process is killed; left out: it is not. */
  readonly killedAfter?: number | undefined;
  /** Whether S3 does what a killed process asked for last. */
  readonly isLastDone: () => boolean;
}

/** The bucket as one process sees it, until it is killed at one of its requests. */
export class Connection implements Archive, ArchiveReader {
  readonly bucket = 'archive';
  readonly location = 's3://archive';
  /** Keys of the objects that were opened, in order. */
  readonly opened: string[] = [];
  requests = 0;
  isKilled = false;
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async time(): Promise<Date | undefined> {
    // As S3 has it in an answer: without milliseconds.
    return this.request(() => new Date(Math.floor(this.#options.time().getTime() / 1000) * 1000));
  }

  async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    yield* await this.request(() => Readable.from(this.#options.bucket.list(prefix, after)).toArray());
  }

  async *listNames(prefix: string): AsyncGenerator<ListedName> {
    yield* await this.request(() => Readable.from(this.#options.bucket.listNames(prefix)).toArray());
  }

  head(key: string): Promise<ObjectHead | undefined> {
    return this.request(() => this.#options.bucket.head(key));
  }

  open(key: string): Promise<OpenedObject | undefined> {
    this.opened.push(key);
    return this.request(() => this.#options.bucket.open(key));
  }

  put(object: ArchiveObject): Promise<'archived' | 'already-archived'> {
    const { bucket, time } = this.#options;
    return this.request(() => this.answered(bucket.put(object, time())));
  }

  /** What the process hears of a put. */
  protected answered(done: 'archived' | 'already-archived'): typeof done {
    return done;
  }

  /** Makes a request, of S3 or of somebody else. */
  async request<Result>(act: () => Result | Promise<Result>): Promise<Result> {
    const { killedAfter = Number.POSITIVE_INFINITY, isLastDone, wait } = this.#options;
    await wait?.();
    this.requests += 1;
    if (this.requests <= killedAfter) return act();
    this.isKilled = true;
    if (this.requests === killedAfter + 1 && isLastDone()) await act();
    throw new KilledError('killed');
  }
}
