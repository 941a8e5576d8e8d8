import { LogHistory, type LogLink } from '../../lambda/log/log-history';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { ArchiveReader, ObjectHead } from '../../lambda/verify/archive-reader';
import { damageOf, openContent } from '../../lambda/verify/open-content';
import { behind, contentOf, textOf } from './read-text';

/** One archived log of a cluster, and how it follows the one before it. */
export interface ReadLog {
  readonly key: string;
  /** What it says about itself; undefined: it is damaged. */
  readonly head: ObjectHead | undefined;
  readonly link: LogLink;
  /** Its text from one of its bytes on, in chunks that are not empty. Reads it again if it is no longer held. */
  readonly textFrom: (byte: number) => AsyncIterable<Buffer>;
  /** Why it has no text that could be compared. */
  readonly problem: string | undefined;
}

/** Longest text that is held, in bytes. Nearly all logs are shorter; one that is read twice takes up to twice as long. */
const mostHeld = 4 * 1024 * 1024;

/** Reads the logs of a cluster, oldest first. */
export class LogsInTurn {
  readonly #reader: ArchiveReader;
  readonly #history = new LogHistory();
  readonly #mostHeld: number;
  /** The last text, as far as it is held, and its key. */
  #held: { readonly key: string; readonly chunks: Buffer[]; length: number } | undefined;

  /** @param isHeld whether texts are wanted: the last one is held then, so that it need not be read again */
  constructor(reader: ArchiveReader, isHeld: boolean) {
    this.#reader = reader;
    this.#mostHeld = isHeld ? mostHeld : 0;
  }

  /** @returns undefined if it is not there */
  async read(run: Date, key: string): Promise<ReadLog | undefined> {
    const log = this.#history.reader();
    const decoder = new LogTextDecoder();
    let problem: string | undefined;
    let head: ObjectHead | undefined;
    try {
      const opened = await this.#reader.open(key);
      if (opened === undefined) return undefined;
      const { body, ...content } = openContent(key, opened);
      this.#held = { key, chunks: [], length: 0 };
      for await (const chunk of decoder.decode(body)) {
        log.write(chunk);
        this.#hold(chunk);
      }
      if (!decoder.found) problem = 'it has no text (spec.log)';
      head = content;
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      problem = `damaged: ${damage}`;
    }
    const link = this.#history.add(run, head && log.result());
    if (link.lines === 0) problem ??= 'its text is empty';
    return { key, head, link, textFrom: (byte) => this.#textFrom(key, byte), problem };
  }

  #hold(chunk: Buffer): void {
    if (this.#held === undefined) return;
    this.#held.chunks.push(chunk);
    this.#held.length += chunk.length;
    if (this.#held.length > this.#mostHeld) this.#held = undefined;
  }

  async *#textFrom(key: string, byte: number): AsyncGenerator<Buffer> {
    if (this.#held?.key === key) yield* behind(this.#held.chunks, byte);
    else yield* textOf((await contentOf(this.#reader, key)).body, 'log', byte);
  }
}
