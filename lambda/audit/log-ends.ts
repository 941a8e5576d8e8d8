import type { LogEnd } from '../log/log-end';

/** Lines that one block of memory has at least. */
const blockLines = 65_536;

interface Block {
  readonly hashes: Float64Array;
  readonly bytes: Uint32Array;
}

/** What is known of the end of a log besides its lines. */
type Rest = Pick<LogEnd, 'lines' | 'isOpen' | 'text'> & { readonly kept: number };

/**
 * The ends of the logs of many clusters, of each as many lines as a bound on the memory of all allows: 12 bytes a line, in
 * blocks, because 50,000 pairs of arrays would take as much again.
 */
export class LogEnds {
  /** Lines that are kept of each log. */
  readonly most: number;
  readonly #slotsPerBlock: number;
  readonly #blocks: Block[] = [];
  readonly #rests: Rest[] = [];

  constructor(most: number) {
    this.most = most;
    this.#slotsPerBlock = Math.max(1, Math.floor(blockLines / most));
  }

  /** @returns the slot of a new log */
  add(end: LogEnd): number {
    const slot = this.#rests.length;
    this.#rests.push({ lines: 0, isOpen: false, text: 0, kept: 0 });
    this.set(slot, end);
    return slot;
  }

  set(slot: number, { lines, isOpen, text, hashes, bytes }: LogEnd): void {
    const { block, at } = this.#placeOf(slot);
    const from = Math.max(0, hashes.length - this.most);
    block.hashes.set(hashes.subarray(from), at);
    block.bytes.set(bytes.subarray(from), at);
    this.#rests[slot] = { lines, isOpen, text, kept: hashes.length - from };
  }

  get(slot: number): LogEnd {
    const { block, at } = this.#placeOf(slot);
    const { kept, ...rest } = this.#rests[slot] as Rest;
    return { ...rest, hashes: block.hashes.subarray(at, at + kept), bytes: block.bytes.subarray(at, at + kept) };
  }

  #placeOf(slot: number): { readonly block: Block; readonly at: number } {
    const index = Math.floor(slot / this.#slotsPerBlock);
    const length = this.#slotsPerBlock * this.most;
    this.#blocks[index] ??= { hashes: new Float64Array(length), bytes: new Uint32Array(length) };
    return { block: this.#blocks[index], at: (slot % this.#slotsPerBlock) * this.most };
  }
}
