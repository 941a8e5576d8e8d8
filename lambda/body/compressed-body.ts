import type { Hash } from 'node:crypto';
import type { Content } from '../archive/archive-object';
import type { EncodedBy } from '../resources';
import type { Compressor } from './compress';
import { LongBody, pieceBytes } from './long-body';
import { nextInRound } from './rounds';

/** Where the content of a body goes. */
export interface Destination {
  readonly encodedBy: EncodedBy;
  /** @returns resolves when more may come; undefined: at once. @throws SpoolError */
  write(content: Buffer): Promise<void> | undefined;
  /** To be called after the last content. @returns the compressed content @throws SpoolError */
  end(): Promise<Content>;
  /** Forgets the content; safe at any time and more than once. */
  release(): Promise<void>;
}

/** Content that the collector compresses: whole if it is short, piece by piece if it is long. */
export class CompressedBody implements Destination {
  readonly encodedBy = 'collector';
  readonly #compressor: Compressor;
  readonly #spoolDirectory: string;
  readonly #hash: Hash;
  /** What came of content that may turn out to be short. */
  #parts: Buffer[] = [];
  #length = 0;
  #long: LongBody | undefined;

  /** @param hash gets the uncompressed content */
  constructor(compressor: Compressor, spoolDirectory: string, hash: Hash) {
    this.#compressor = compressor;
    this.#spoolDirectory = spoolDirectory;
    this.#hash = hash;
  }

  write(content: Buffer): Promise<void> | undefined {
    if (this.#long !== undefined) return this.#long.write(content);
    this.#length += content.length;
    this.#parts.push(content);
    return this.#length < pieceBytes ? undefined : this.#begin();
  }

  async #begin(): Promise<void> {
    this.#long = new LongBody(this.#compressor.stream(), this.#spoolDirectory, (piece) => this.#hash.update(piece));
    for (const part of this.#parts.splice(0)) await this.#long.write(part);
  }

  async end(): Promise<Content> {
    if (this.#long !== undefined) return this.#long.end();
    const [only] = this.#parts;
    const whole = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#length);
    await nextInRound();
    this.#hash.update(whole);
    return this.#compressor.all(whole);
  }

  async release(): Promise<void> {
    await this.#long?.release();
  }
}
