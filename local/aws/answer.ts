import type { Readable } from 'node:stream';

/** What a call is answered with. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A function opens a stream of as many bytes as the header Content-Length says. */
  readonly body?: string | (() => Readable);
}
