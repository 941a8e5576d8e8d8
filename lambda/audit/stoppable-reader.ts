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

  async head(key: string): Promise<ObjectHead | undefined> {
    this.#signal.throwIfAborted();
    return this.#reader.head(key);
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    this.#signal.throwIfAborted();
    const opened = await this.#reader.open(key);
    if (opened === undefined) return undefined;
    const { body } = opened;
    const stop = () => body.destroy(this.#signal.reason);
    this.#signal.addEventListener('abort', stop);
    body.once('close', () => this.#signal.removeEventListener('abort', stop));
    if (this.#signal.aborted) stop();
    return opened;
  }
}
