import { addAbortSignal } from 'node:stream';
import {
  ArchiveReadError,
  type ArchiveReader,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
} from '../verify/archive-reader';

/** Longest time for one object, in milliseconds, and how much longer for each byte as stored: 8 s for a MiB. */
const longestMs = 60_000;
const longestMsPerByte = 8_000 / 2 ** 20;

/**
 * Reads until a signal aborts: what is being read then ends, and nothing more is opened. An object
 * that comes too slowly ends by itself: it must not cost the others the time of an audit.
 */
export class StoppableReader implements ArchiveReader {
  readonly location: string;
  readonly #reader: ArchiveReader;
  readonly #signal: AbortSignal;
  readonly #longestMs: number;

  /** @param mostMs longest time for an empty object, in milliseconds */
  constructor(reader: ArchiveReader, signal: AbortSignal, mostMs = longestMs) {
    this.#longestMs = mostMs;
    this.location = reader.location;
    this.#reader = reader;
    this.#signal = signal;
  }

  list(prefix: string, after?: string): AsyncIterable<ListedObject> {
    return this.#reader.list(prefix, after);
  }

  time(): Promise<Date | undefined> {
    return this.#reader.time();
  }

  head(key: string): Promise<ObjectHead | undefined> {
    return this.#untilStopped(() => this.#reader.head(key));
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    const opened = await this.#untilStopped(
      () => this.#reader.open(key),
      (late) => late?.body.destroy(),
    );
    if (opened === undefined) return undefined;
    const { body, storedBytes } = opened;
    const limit = this.#longestMs + storedBytes * longestMsPerByte;
    const late = () => body.destroy(new ArchiveReadError(`it did not come within ${Math.ceil(limit / 1000)} s`));
    const timer = setTimeout(late, limit);
    body.once('close', () => clearTimeout(timer));
    addAbortSignal(this.#signal, body);
    return opened;
  }

  /** Does not wait for an answer that comes too late. */
  async #untilStopped<Answer>(ask: () => Promise<Answer>, discard?: (late: Answer) => void): Promise<Answer> {
    this.#signal.throwIfAborted();
    const answer = ask();
    return new Promise((resolve, reject) => {
      const stop = () => {
        reject(this.#signal.reason);
        answer.then(discard, () => undefined);
      };
      this.#signal.addEventListener('abort', stop, { once: true });
      answer.then(resolve, reject).finally(() => this.#signal.removeEventListener('abort', stop));
    });
  }
}
