import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type ListeningServer, listenLocally } from '../listen-locally';
import { answerCall, type LocalAwsOptions } from './aws-endpoint';
import type { Answer } from './call';

/** Its address is for AWS_ENDPOINT_URL. Once it is closed, nothing is written any more. */
export type LocalAws = ListeningServer;

/** Starts S3 over folders, Secrets Manager, KMS and SNS at a free port of 127.0.0.1. */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  let stop: () => void = () => undefined;
  const closing = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
  });
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const handled = sendAnswer(request, response, () => answerCall(options, request, closing));
    running.add(handled);
    void handled.finally(() => running.delete(handled));
  });
  const { url, close } = await listenLocally(server);
  return {
    url,
    close: async () => {
      stop();
      await Promise.all([close(), ...running]);
    },
  };
}

/**
 * Sends the answer to a request. Never fails: what goes wrong with a connection ends the connection.
 * @param findAnswer undefined: the connection is to be cut
 */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  findAnswer: () => Promise<Answer | undefined>,
): Promise<void> {
  try {
    const answer = await findAnswer();
    if (answer === undefined) request.socket.resetAndDestroy();
    else await send(request, response, answer);
  } catch (error) {
    response.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const { status, headers, body } = answer;
  const text = typeof body === 'string' ? Buffer.from(body) : undefined;
  response.writeHead(status, { ...headers, ...(text && { 'content-length': text.length }) });
  if (request.method === 'HEAD' || body === undefined) response.end();
  else if (typeof body === 'string') response.end(text);
  else await pipeline(body(), response);
}
