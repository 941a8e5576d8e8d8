import type { ArchiveReader, ListedObject, ObjectHead, OpenedObject } from '../verify/archive-reader';

/** Reads until a signal aborts: what is being read then ends with the signal's reason, and nothing more is opened. */
export class StoppableReader implements ArchiveReader {
  readonly location: string;
  readonly #reader: ArchiveReader;
  readonly #signal: AbortSignal;

  constructor(reader: ArchiveReader, signal: AbortSignal) {
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
    const { body } = opened;
    const stop = () => body.destroy(this.#signal.reason);
    this.#signal.addEventListener('abort', stop);
    body.once('close', () => this.#signal.removeEventListener('abort', stop));
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
