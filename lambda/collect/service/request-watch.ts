import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from './service-error';

/** Time limits of one request, in milliseconds. */
export interface RequestTimeLimits {
  /** Waiting for a connection, name look-up, TCP and TLS together. */
  readonly connectMs: number;
  /** From the request to the answer's whole head. */
  readonly responseMs: number;
  /** Window in which a body must bring at least {@link minimumProgressBytes}. */
  readonly idleMs: number;
}

/** The limits that are not configured. */
export const silenceLimits = { connectMs: 10_000, idleMs: 30_000 } as const satisfies Partial<RequestTimeLimits>;

/** A body that brings fewer bytes than this in one idle window counts as stopped. */
const minimumProgressBytes = 1024;

/** Ends one request when a time limit passes. */
export class RequestWatch {
  readonly #limits: RequestTimeLimits;
  readonly #end: (late: ServiceError) => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param end gets a `timeout` with the bare reason */
  constructor(limits: RequestTimeLimits, end: (late: ServiceError) => void) {
    this.#limits = limits;
    this.#end = end;
    this.#limit(limits.connectMs, 'no connection');
  }

  /** To be called when the request is sent. */
  requested(): void {
    this.#limit(this.#limits.responseMs, 'no answer');
  }

  /** To be called when the answer's head has arrived. */
  receives(response: IncomingMessage, socket: Socket): void {
    clearTimeout(this.#timer);
    // The body has arrived: what is left to do takes no time of the service.
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

  /** To be called once the request is over, in every outcome. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #limit(ms: number, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(`${what} in ${seconds(ms)}`), ms);
  }

  #expire(reason: string): void {
    clearTimeout(this.#timer);
    this.#end(new ServiceError(reason, 'timeout'));
  }
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
