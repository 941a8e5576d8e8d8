/** Bytes in a chunk of a held text. */
const chunkBytes = 64 * 1024;

/**
 * Room for the texts of many objects, one at a time: the last one is held, unless it is too long. All of them stand in the
 * same memory: with a buffer for each, the one before would still be there while the next is read.
 */
export class HeldText {
  readonly #most: number;
  #room: Buffer = Buffer.alloc(0);
  #key: string | undefined;
  #isHeld = false;
  #length = 0;

  /** @param most longest text that is held, in bytes; 0: only the room for a chunk of it */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Another text comes: the one before is gone.
   * @param bytes its length, or more
   */
  begin(key: string, bytes: number): void {
    this.#key = key;
    this.#isHeld = bytes <= this.#most;
    this.#length = 0;
  }

  /** Room for the next chunk, which lasts until the one after it. */
  readonly allocate = (bytes: number): Buffer => {
    const needed = this.#length + bytes;
    if (this.#room.length < needed) {
      // The memory that is never written to costs nothing.
      const room = Buffer.allocUnsafeSlow(Math.max(needed, this.#isHeld ? this.#most + bytes : 0));
      this.#room.copy(room, 0, 0, this.#length);
      this.#room = room;
    }
    return this.#room.subarray(this.#length);
  };

  /** So many bytes were written to the room. */
  add(bytes: number): void {
    if (this.#isHeld) this.#length += bytes;
  }

  /** Whether this is the text of the object. */
  has(key: string): boolean {
    return this.#isHeld && this.#key === key;
  }

  /** The text in chunks of their own, which last. */
  *chunks(from: number): Generator<Buffer> {
    for (let at = from; at < this.#length; at += chunkBytes)
      yield Buffer.from(this.#room.subarray(at, Math.min(at + chunkBytes, this.#length)));
  }
}
