import { connect, type TLSSocket } from 'node:tls';

/** One kept-alive TLS connection with just enough HTTP/1.1 for the servers of the benchmark. */
export class RawConnection {
  readonly #socket: TLSSocket;
  #onData: (chunk: Buffer) => void = () => undefined;
  #onError: (error: Error) => void = () => undefined;

  constructor(url: URL, ca: string) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), ca });
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#socket.on('error', (error) => this.#onError(error));
  }

  /**
   * Sends one request. Passes on each part of the body as it arrives, and whether it is in gzip. Resolves with the status
   * after the last part.
   */
  request(parts: readonly (string | Buffer)[], onBody: (part: Buffer, isGzip: boolean) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      let status = 0;
      let missing = 0;
      let isGzip = false;
      let head: Buffer | undefined = Buffer.alloc(0);
      this.#onError = reject;
      this.#onData = (chunk) => {
        let body = chunk;
        if (head !== undefined) {
          head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
          const end = head.indexOf('\r\n\r\n');
          if (end < 0) return;
          const text = head.toString('latin1', 0, end);
          status = Number(text.slice(9, 12));
          missing = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
          isGzip = /\r\ncontent-encoding: gzip/i.test(text);
          body = head.subarray(end + 4);
          head = undefined;
        }
        missing -= body.length;
        try {
          if (body.length > 0) onBody(body, isGzip);
        } catch (error) {
          reject(error);
        }
        if (missing <= 0) resolve(status);
      };
      this.#socket.cork();
      for (const part of parts) this.#socket.write(part);
      this.#socket.uncork();
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
