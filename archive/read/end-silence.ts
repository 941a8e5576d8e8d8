import type { IncomingMessage } from 'node:http';
import type { S3Client } from '@aws-sdk/client-s3';

/** An answer has fallen silent. The SDK asks again after an error of this name, where nothing of the answer was passed on. */
class SilenceError extends Error {
  override readonly name = 'TimeoutError';

  constructor(silenceMs: number) {
    super(`the connection fell silent: no byte came for ${silenceMs / 1000} s; check the network`);
  }
}

/**
 * Ends requests of a client that fall silent, while somebody waits for bytes and none come for the given time; or for twice as
 * long at most. Nothing ends because its reader is slow: then bytes are waiting for the reader, who may look at a page for
 * an hour. A time limit of the socket cannot tell the two apart.
 * @param silenceMs in milliseconds
 */
export function endSilence({ config }: S3Client, silenceMs: number): void {
  const { requestHandler } = config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = async (request, options) => {
    const answer = await handle(request, options).catch((error: Error) => {
      // The SDK's words name a package and a setting.
      if (error.name === 'TimeoutError') error.message = error.message.replace(sdkWords, ourWords);
      throw error;
    });
    watch(answer.response.body as IncomingMessage, silenceMs);
    return answer;
  };
}

const sdkWords = /^@smithy\S+ - (?:\[ERROR\] )?(?:the|a) request (socket|has).* (\d+) ms.*$/;

const ourWords = (_: string, what: string, milliseconds: string) =>
  `no ${what === 'socket' ? 'connection' : 'answer'} came within ${Number(milliseconds) / 1000} s; check the network`;

function watch(body: IncomingMessage, silenceMs: number): void {
  /** Bytes that had come when there was nothing to read; undefined: there was something. */
  let before: number | undefined;
  const look = () => {
    const isWaiting = body.readableLength === 0 && !body.complete;
    const { bytesRead } = body.socket;
    if (isWaiting && bytesRead === before) body.destroy(new SilenceError(silenceMs));
    before = isWaiting ? bytesRead : undefined;
  };
  const timer = setInterval(look, silenceMs).unref();
  body.once('close', () => clearInterval(timer));
}
