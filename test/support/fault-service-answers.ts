import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
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

/** 429, or the status given, with any text as Retry-After; left out: without the header. */
export function throttled(retryAfter?: string, code: 429 | 503 = 429): Answer {
  return status(code, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
}

/** A TCP reset instead of an answer. */
export function resetBeforeHeaders(): Answer {
  return ({ reset }) => reset();
}

/**
 * Headers and half of the body, then a TCP reset. A client that meets both at once may see a plain end instead of the
 * reset: libuv reports it so.
 */
export function resetMidBody(body: string): Answer {
  return async (exchange) => {
    await beginWithLength(exchange, body);
    // A client in this process reads the first bytes within the next turns of the event loop, and so meets the reset alone.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    exchange.reset();
  };
}

/** Announces the whole body, sends half of it, and closes in good order. */
export function truncatedLength(body: string): Answer {
  return async (exchange) => {
    await beginWithLength(exchange, body);
    exchange.socket.destroySoon();
  };
}

/** Sends half of the body chunked, and closes in good order without the last chunk. */
export function truncatedChunked(body: string): Answer {
  return async (exchange) => {
    await begin(exchange, halfOf(body), json);
    exchange.socket.destroySoon();
  };
}

/** Takes the request and says nothing until the client gives up. */
export function silence(): Answer {
  return ({ request }) => request.gone;
}

/** Headers and half of the body, then nothing until the client gives up. */
export function stalledBody(body: string): Answer {
  return async (exchange) => {
    await beginWithLength(exchange, body);
    await exchange.request.gone;
  };
}

/** A status line, and then a header that grows by a letter at a time and never ends. */
export function slowHeaders(): Answer {
  return async ({ socket, request }) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    while (await stillThere(request.gone)) socket.write('a');
  };
}

/** The body byte by byte, whole in the end if the client waits for it. */
export function tricklingBody(body: string): Answer {
  return async (exchange) => {
    const bytes = Buffer.from(body);
    await begin(exchange, Buffer.alloc(0), { ...json, 'Content-Length': bytes.length });
    for (let at = 0; at < bytes.length; at += 1) {
      if (!(await stillThere(exchange.request.gone))) return;
      exchange.response.write(bytes.subarray(at, at + 1));
    }
    exchange.response.end();
  };
}

/** The body in gzip, with its Content-Encoding. */
export function inGzip(body: string | Buffer, headers: Headers = json): Answer {
  return ok(gzipSync(body), { ...headers, 'Content-Encoding': 'gzip' });
}

const halfOf = (body: string) => Buffer.from(body).subarray(0, Math.floor(Buffer.byteLength(body) / 2));

const beginWithLength = (exchange: Exchange, body: string) =>
  begin(exchange, halfOf(body), { ...json, 'Content-Length': Buffer.byteLength(body) });

/** Sends the headers and the first bytes, and resolves when the operating system has them. */
async function begin({ response, request }: Exchange, first: Buffer, headers: Headers) {
  response.writeHead(200, headers);
  response.flushHeaders();
  if (first.length > 0)
    await Promise.race([new Promise<void>((resolve) => response.write(first, () => resolve())), request.gone]);
}

/**
 * Resolves when the next piece may be sent: false if the client has left meanwhile. No test waits for this time: a trickle
 * goes on until its client gives up or its body ends.
 */
function stillThere(gone: Promise<void>): Promise<boolean> {
  return Promise.race([gone.then(() => false), wait(5).then(() => true)]);
}
