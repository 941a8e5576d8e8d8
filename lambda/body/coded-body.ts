import type { Hash } from 'node:crypto';
import type { Content } from '../archive/archive-object';
import { BodyTooLargeError } from './body-check';
import type { Destination } from './compressed-body';
import { type Coding, decoded } from './content-coding';
import type { Spool } from './spool';

/**
 * A coded body is kept and decoded in pieces of this many bytes: decoding the 16 KB that TLS hands over costs four times
 * as many trips to the thread pool. A body of one piece is decoded without any.
 */
const pieceBytes = 64 * 1024;

/**
 * Length in bytes of the decoder's output buffers. With 16 KB, Node's own choice, gzip takes nearly twice as long; twice as
 * much as here is no faster, and leaves more garbage. Content that is compressed again is copied to other buffers anyway.
 */
const outputBytes = { kept: 128 * 1024, compressedAgain: 64 * 1024 } as const;

/** How a body comes that has a content coding. */
export interface CodedTransfer {
  readonly coding: Coding;
  /** Ends decoding. */
  readonly signal: AbortSignal;
}

/** A body that comes with a content coding: decoded while it arrives. */
export class CodedBody {
  readonly #source: AsyncIterable<Buffer>;
  readonly #transfer: CodedTransfer;
  readonly #maxBytes: number;
  readonly #spool: Spool | undefined;
  #receivedBytes = 0;

  /**
   * @param maxBytes most bytes of it that are accepted
   * @param spool where it is kept as it comes; undefined: it is not kept
   */
  constructor(source: AsyncIterable<Buffer>, transfer: CodedTransfer, maxBytes: number, spool: Spool | undefined) {
    this.#source = source;
    this.#transfer = transfer;
    this.#maxBytes = maxBytes;
    this.#spool = spool;
  }

  /** Length of what came so far, in bytes. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /**
   * The content.
   * @throws BodyTooLargeError, CodingError, SpoolError; whatever the source throws; AbortError
   */
  content(): AsyncGenerator<Buffer> {
    const { coding, signal } = this.#transfer;
    return decoded(this.#pieces(), coding, signal, this.#spool ? outputBytes.kept : outputBytes.compressedAgain);
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    let chunks: Buffer[] = [];
    let length = 0;
    const take = async () => {
      const piece = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
      chunks = [];
      length = 0;
      await this.#spool?.write(piece);
      return piece;
    };
    for await (const chunk of this.#source) {
      this.#receivedBytes += chunk.length;
      // The coded bytes count too: a gzip stream may go on for ever without any content.
      if (this.#receivedBytes > this.#maxBytes) throw new BodyTooLargeError(this.#maxBytes);
      chunks.push(chunk);
      length += chunk.length;
      if (length >= pieceBytes) yield await take();
    }
    if (length > 0) yield await take();
  }
}

/** A body that is stored as it comes: its content is only hashed. */
export class KeptBody implements Destination {
  readonly encodedBy = 'service';
  readonly #spool: Spool;
  readonly #hash: Hash;

  /** @param spool gets the coded body  @param hash gets the content */
  constructor(spool: Spool, hash: Hash) {
    this.#spool = spool;
    this.#hash = hash;
  }

  write(content: Buffer): undefined {
    this.#hash.update(content);
  }

  end(): Promise<Content> {
    return this.#spool.end();
  }

  release(): Promise<void> {
    return this.#spool.release();
  }
}
