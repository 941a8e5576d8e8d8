import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './answer';
import { toXml } from './s3/xml';

/** Finds the answer; calls its argument for the request's body. Undefined: the connection is to be cut. */
export type Answerer = (body: () => AsyncIterable<Uint8Array>) => Promise<Answer | undefined>;

/**
 * Sends what a request is answered with. Never fails: what goes wrong with a connection ends the connection.
 * @param waits whether the client waits to be asked for its body (`Expect: 100-continue`)
 */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  waits: boolean,
  answerer: Answerer,
): Promise<void> {
  let asked = !waits;
  try {
    const answer = await answerer(() => {
      if (!asked) response.writeContinue();
      asked = true;
      // The connection must outlive a body that is given up, to carry the answer.
      return request.iterator({ destroyOnReturn: false });
    });
    if (answer === undefined) request.socket.resetAndDestroy();
    // To a client that was not asked for its body, Node closes: what it sent next would be taken for the body.
    else await send(request, response, answer);
  } catch (error) {
    response.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Answers what Node cannot read as a request: cut, or no HTTP. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const isCut = error.code === 'HPE_INVALID_EOF_STATE';
  const body = toXml('Error', {
    Code: isCut ? 'IncompleteBody' : 'BadRequest',
    Message: isCut
      ? 'You did not provide the number of bytes specified by the Content-Length HTTP header'
      : 'An error occurred when parsing the HTTP request.',
  });
  const head = ['HTTP/1.1 400 Bad Request', 'Content-Type: application/xml', `Content-Length: ${body.length}`];
  socket.end(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
}

async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const { status, headers, body } = answer;
  const text = typeof body === 'string' ? Buffer.from(body) : undefined;
  response.writeHead(status, { ...headers, ...(text && { 'content-length': text.length }) });
  if (request.method === 'HEAD' || body === undefined) response.end();
  else if (typeof body === 'string') response.end(text);
  else await pipeline(body(), response);
}
