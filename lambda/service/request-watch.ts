import type { ClientRequest, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';

/** Time limits of one request, in milliseconds. */
export interface RequestTimeLimits {
  /** Name look-up, TCP and TLS together. */
  readonly connectMs: number;
  /** From the connection to the answer's whole head. */
  readonly responseMs: number;
  /** Window in which a body must bring at least {@link minimumProgressBytes}. */
  readonly idleMs: number;
}

/** A body that brings less than this in one idle window has stopped in all but name. */
export const minimumProgressBytes = 1024;

/** Destroys one request when a time limit passes or the caller's signal aborts, and remembers why. */
export class RequestWatch {
  readonly #signal: AbortSignal;
  readonly #limits: RequestTimeLimits;
  #request: ClientRequest | undefined;
  #ended: (error: Error) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #expired: string | undefined;
  #answered = false;
  readonly #abort = () => this.#end(abortError(this.#signal.reason));

  constructor(signal: AbortSignal, limits: RequestTimeLimits) {
    this.#signal = signal;
    this.#limits = limits;
  }

  /** Which time limit passed, in words; undefined as long as none did. */
  get expired(): string | undefined {
    return this.#expired;
  }

  /** Whether the answer's head has arrived. */
  get answered(): boolean {
    return this.#answered;
  }

  /** @param ended called when the request is destroyed: one that still waits for a connection would not tell anybody */
  start(request: ClientRequest, ended: (error: Error) => void): void {
    this.#request = request;
    this.#ended = ended;
    this.#signal.addEventListener('abort', this.#abort);
    this.#limit(this.#limits.connectMs, 'no connection');
    request.once('socket', (socket) => {
      // A connection that was handed on from another request is not always marked as reused.
      if (socket instanceof TLSSocket ? socket.authorized : !socket.connecting) this.#connected();
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => this.#connected());
    });
    request.once('response', (response) => this.#watchBody(response));
  }

  /** To be called once the request is over, in every outcome. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#abort);
  }

  #connected(): void {
    if (!this.#answered) this.#limit(this.#limits.responseMs, 'no answer');
  }

  #watchBody(response: IncomingMessage): void {
    this.#answered = true;
    clearTimeout(this.#timer);
    const { socket } = response;
    // What is left to do with a body that has arrived is not the service's time.
    response.once('end', () => clearTimeout(this.#timer));
    let seen = socket.bytesRead;
    this.#timer = setInterval(() => {
      const progress = socket.bytesRead - seen;
      seen = socket.bytesRead;
      // Bytes that wait to be read mean that this side is the slow one.
      if (progress >= minimumProgressBytes || response.readableLength > 0) return;
      this.#expire(`less than ${minimumProgressBytes} bytes of its body in ${seconds(this.#limits.idleMs)}`);
    }, this.#limits.idleMs);
  }

  #limit(ms: number, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(`${what} in ${seconds(ms)}`), ms);
  }

  #expire(reason: string): void {
    clearTimeout(this.#timer);
    this.#expired = reason;
    this.#end(new Error(reason));
  }

  #end(error: Error): void {
    this.#request?.destroy(error);
    this.#ended(error);
  }
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

function abortError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
