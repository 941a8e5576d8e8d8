import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Answer, Exchange } from './fault-service';

/** A whole body, or its pieces, made while they are sent. */
export type Body = string | Buffer | Iterable<Buffer> | AsyncIterable<Buffer>;

export type Headers = Readonly<Record<string, string | number>>;

const json = { 'Content-Type': 'application/json' };

/** A proper answer. A whole body is sent with its length, one of pieces chunked unless the headers give a length. */
export function reply(status: number, body: Body = '', headers: Headers = json): Answer {
  return async ({ response }) => {
    if (typeof body === 'string' || Buffer.isBuffer(body)) {
      const length = status === 204 || status === 304 ? {} : { 'Content-Length': Buffer.byteLength(body) };
      response.writeHead(status, { ...length, ...headers });
      response.end(body);
      return;
    }
    response.writeHead(status, headers);
    await pipeline(Readable.from(body), response);
  };
}

/** 200 with a body. */
export function ok(body: Body, headers: Headers = json): Answer {
  return reply(200, body, headers);
}

/** An error status with a JSON error document. */
export function status(code: number, headers: Headers = {}): Answer {
  return reply(code, JSON.stringify({ code: `E${code}`, message: `the answer is ${code}` }), { ...json, ...headers });
}

export function noContent(): Answer {
  return reply(204, '', {});
}

export function redirect(code: 301 | 302 | 303 | 307 | 308, location: string): Answer {
  return reply(code, 'moved', { Location: location, 'Content-Type': 'text/plain' });
}

/** 429, or the status given, with any text as Retry-After; left out: without the header. */
export function throttled(retryAfter?: string, code: 429 | 503 = 429): Answer {
  return status(code, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
}

/** A TCP reset instead of an answer. */
export function resetBeforeHeaders(): Answer {
  return ({ reset }) => reset();
}

/** The connection is closed in good order, without a byte of an answer. */
export function closedBeforeHeaders(): Answer {
  return ({ socket }) => socket.destroySoon();
}

/**
 * Headers and `after` bytes of the body (half of it if left out), then a TCP reset. A client that meets both at once may
 * see a plain end instead of the reset: libuv reports it so.
 */
export function resetMidBody(body: string | Buffer, after?: number, headers: Headers = json): Answer {
  return async (exchange) => {
    await begin(exchange, body, after, { 'Content-Length': Buffer.byteLength(body), ...headers });
    // A client in this process reads the first bytes within the next turns of the event loop, and so meets the reset alone.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    exchange.reset();
  };
}

/** Announces the whole body, sends `after` bytes of it, and closes in good order. */
export function truncatedLength(body: string | Buffer, after?: number, headers: Headers = json): Answer {
  return async (exchange) => {
    await begin(exchange, body, after, { 'Content-Length': Buffer.byteLength(body), ...headers });
    exchange.socket.destroySoon();
  };
}

/** Sends `after` bytes of the body chunked, and closes in good order without the last chunk. */
export function truncatedChunked(body: string | Buffer, after?: number, headers: Headers = json): Answer {
  return async (exchange) => {
    await begin(exchange, body, after, headers);
    exchange.socket.destroySoon();
  };
}

/** Takes the request and says nothing until the client gives up. */
export function silence(): Answer {
  return ({ request }) => request.gone;
}

/** Headers and `after` bytes of the body, then nothing until the client gives up. */
export function stalledBody(body: string | Buffer, after?: number, headers: Headers = json): Answer {
  return async (exchange) => {
    await begin(exchange, body, after, { 'Content-Length': Buffer.byteLength(body), ...headers });
    await exchange.request.gone;
  };
}

/** Resolves when the next piece may be sent. A test passes its own to drive a trickle step by step. */
export type Pace = () => Promise<unknown>;

/** Not a time that a test waits for: a trickle goes on until its client gives up or its body ends. */
const fewMilliseconds: Pace = () => wait(5);

/** A status line, and then a header that grows by a letter at a time and never ends. */
export function slowHeaders(pace: Pace = fewMilliseconds): Answer {
  return async ({ socket, request }) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    while (await stillThere(request.gone, pace)) socket.write('a');
  };
}

/** The body in small pieces, whole in the end if the client waits for it. */
export function tricklingBody(
  body: string | Buffer,
  {
    pace = fewMilliseconds,
    pieceBytes = 1,
    headers = json,
  }: { pace?: Pace; pieceBytes?: number; headers?: Headers } = {},
): Answer {
  return async (exchange) => {
    const bytes = Buffer.from(body);
    await begin(exchange, bytes, 0, { 'Content-Length': bytes.length, ...headers });
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (!(await stillThere(exchange.request.gone, pace))) return;
      exchange.response.write(bytes.subarray(at, at + pieceBytes));
    }
    exchange.response.end();
  };
}

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;

/** The body really encoded, with its Content-Encoding. */
export function encoded(encoding: keyof typeof encoders, body: string | Buffer, headers: Headers = json): Answer {
  return ok(encoders[encoding](body), { ...headers, 'Content-Encoding': encoding });
}

/** The body as it is under a Content-Encoding, by default one that does not exist. */
export function wronglyEncoded(body: string | Buffer, encoding = 'x-unheard-of'): Answer {
  return ok(body, { ...json, 'Content-Encoding': encoding });
}

/** Sends the headers and the first bytes, and resolves when the operating system has them. */
async function begin(exchange: Exchange, body: string | Buffer, after: number | undefined, headers: Headers) {
  const { response } = exchange;
  const bytes = Buffer.from(body);
  const part = bytes.subarray(0, after ?? Math.floor(bytes.length / 2));
  response.writeHead(200, headers);
  response.flushHeaders();
  if (part.length > 0)
    await Promise.race([new Promise<void>((resolve) => response.write(part, () => resolve())), exchange.request.gone]);
}

/** Waits for the next turn; false if the client has left meanwhile. */
function stillThere(gone: Promise<void>, pace: Pace): Promise<boolean> {
  return Promise.race([gone.then(() => false), pace().then(() => true)]);
}
