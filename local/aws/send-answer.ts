import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer, Call } from './call';
import { toXml } from './s3/s3-answers';

/**
 * Sends the answer to a request. Never fails: what goes wrong with a connection ends the connection.
 * @param waits whether the client waits to be asked for its body (`Expect: 100-continue`)
 * @param findAnswer undefined: the connection is to be cut
 */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  waits: boolean,
  findAnswer: (body: Call['body']) => Promise<Answer | undefined>,
): Promise<void> {
  let asked = !waits;
  try {
    const answer = await findAnswer(() => {
      if (!asked) response.writeContinue();
      asked = true;
      // A body that is not read to its end must not end the connection, which carries the answer.
      return request.iterator({ destroyOnReturn: false });
    });
    if (answer === undefined) request.socket.resetAndDestroy();
    // If the client was not asked for its body, Node closes the connection: the next request would be read as the body.
    else await send(request, response, answer);
  } catch (error) {
    response.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Answers bytes that Node cannot read as a request: a cut one, or no HTTP. */
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
