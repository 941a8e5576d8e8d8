import { once } from 'node:events';
import { createGunzip, type Gunzip as GunzipStream, gunzipSync } from 'node:zlib';

/** Received parts are joined to pieces of this length before they are decoded. */
const pieceBytes = 64 * 1024;

/** Works like the function's own: undoes gzip at once if it is short, and as a stream if it is long. */
export class Gunzip {
  readonly #onContent: (part: Buffer) => void;
  #stream: GunzipStream | undefined;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(onContent: (part: Buffer) => void) {
    this.#onContent = onContent;
  }

  add(part: Buffer): void {
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length < pieceBytes) return;
    if (this.#stream === undefined) {
      this.#stream = createGunzip({ chunkSize: 256 * 1024 });
      this.#stream.on('data', this.#onContent);
    }
    this.#stream.write(this.#take());
  }

  async end(): Promise<void> {
    const last = this.#take();
    if (this.#stream === undefined) {
      const length = last.readUInt32LE(last.length - 4);
      this.#onContent(gunzipSync(last, { chunkSize: Math.max(1024, length + 1) }));
      return;
    }
    this.#stream.end(last);
    await once(this.#stream, 'end');
  }

  #take(): Buffer {
    const piece = Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    return piece;
  }
}
