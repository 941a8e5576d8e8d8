import { LogHistory, type LogLink } from '../../lambda/log/log-history';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { LogReader } from '../../lambda/log/seam';
import type { ArchiveReader, ObjectHead } from '../../lambda/verify/archive-reader';
import type { ClusterObject } from '../../lambda/verify/objects-between';
import { damageOf } from '../../lambda/verify/open-content';
import { contentOf, textOf } from './read-text';

/** One archived log of a cluster, and how it follows the one before it. */
export interface ReadLog {
  readonly run: Date;
  readonly object: ClusterObject;
  /** What it says about itself; undefined: it is damaged. */
  readonly head: ObjectHead | undefined;
  readonly link: LogLink;
  /** Its text from one of its bytes on, in chunks that are not empty. Reads it again if it is no longer held. */
  readonly textFrom: (byte: number) => AsyncIterable<Buffer>;
  /** Why it has no text that could be compared. */
  readonly problem: string | undefined;
}

/** Longest text that is held, in bytes. Nearly all logs are shorter; one that is read twice takes up to twice as long. */
const mostHeld = 16 * 1024 * 1024;

/** Bytes in a chunk of a held text. */
const chunkBytes = 64 * 1024;

/** Reads the logs of a cluster, oldest first. */
export class LogsInTurn {
  readonly #reader: ArchiveReader;
  readonly #history = new LogHistory();
  /** All texts stand in the same memory, one at a time: what is let go of is collected late. Empty: none is held. */
  readonly #room: Buffer;
  /** The key of the text in it, and its length so far. */
  #held: { readonly key: string; length: number } | undefined;

  /** @param isHeld whether texts are wanted: the last one is held then, so that it need not be read again */
  constructor(reader: ArchiveReader, isHeld: boolean) {
    this.#reader = reader;
    // Memory that is never written to costs nothing.
    this.#room = Buffer.allocUnsafeSlow(isHeld ? mostHeld : 0);
  }

  async read(object: ClusterObject): Promise<ReadLog> {
    const { key, run } = object;
    const log = this.#history.reader();
    let problem: string | undefined;
    let head: ObjectHead | undefined;
    try {
      const { hasText, ...content } = await this.#readInto(log, key);
      if (!hasText) problem = 'it has no text (spec.log)';
      head = content;
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      problem = `damaged: ${damage}`;
    }
    const link = this.#history.add(run, head && log.result());
    if (link.lines === 0) problem ??= 'its text is empty';
    return { run, object, head, link, textFrom: (byte) => this.#textFrom(key, byte), problem };
  }

  async #readInto(log: LogReader, key: string): Promise<ObjectHead & { readonly hasText: boolean }> {
    const decoder = new LogTextDecoder();
    const { body, ...content } = await contentOf(this.#reader, key);
    this.#held = { key, length: 0 };
    for await (const chunk of decoder.decode(body, this.#allocate)) {
      log.write(chunk);
      if (this.#held !== undefined) this.#held.length += chunk.length;
    }
    return { ...content, hasText: decoder.found };
  }

  /** Where the next chunk is decoded to: behind those before it, as long as there is room. */
  readonly #allocate = (bytes: number): Buffer => {
    const room = this.#room.subarray(this.#held?.length ?? this.#room.length);
    if (room.length >= bytes) return room;
    this.#held = undefined;
    return Buffer.allocUnsafe(bytes);
  };

  async *#textFrom(key: string, byte: number): AsyncGenerator<Buffer> {
    if (this.#held?.key !== key) {
      const { body } = await contentOf(this.#reader, key);
      yield* textOf(body, 'log', byte);
      return;
    }
    // Copies: whoever writes them out may still have them when the next text is in their place.
    const text = this.#room.subarray(0, this.#held.length);
    for (let at = byte; at < text.length; at += chunkBytes) yield Buffer.from(text.subarray(at, at + chunkBytes));
  }
}
