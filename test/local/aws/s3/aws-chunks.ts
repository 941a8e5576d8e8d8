import { createHash, createHmac } from 'node:crypto';

/** Bodies in `aws-chunked` encoding, written here from S3's description of it and not with the code under test. */
export function unsignedChunks(chunks: readonly Buffer[], trailer: string): Buffer {
  const parts = chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, crlf]);
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n\r\n`)]);
}

export interface ChunkChain {
  readonly secretAccessKey: string;
  readonly region: string;
  /** As in the header x-amz-date. */
  readonly stamp: string;
  /** Signature of the headers. */
  readonly seed: string;
}

/** With `trailer` as `name:value`, the signature of it is added. */
export function signedChunks(chunks: readonly Buffer[], chain: ChunkChain, trailer?: string): Buffer {
  const scope = `${chain.stamp.slice(0, 8)}/${chain.region}/s3/aws4_request`;
  const key = ['aws4_request', 's3', chain.region, chain.stamp.slice(0, 8)].reduceRight<Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    Buffer.from(`AWS4${chain.secretAccessKey}`),
  );
  let previous = chain.seed;
  const sign = (algorithm: string, lines: readonly string[]): string => {
    const text = [algorithm, chain.stamp, scope, previous, ...lines].join('\n');
    previous = createHmac('sha256', key).update(text).digest('hex');
    return previous;
  };
  const parts: Buffer[] = [];
  for (const chunk of [...chunks, Buffer.alloc(0)]) {
    const signature = sign('AWS4-HMAC-SHA256-PAYLOAD', [sha256(''), sha256(chunk)]);
    parts.push(Buffer.from(`${chunk.length.toString(16)};chunk-signature=${signature}\r\n`), chunk);
    if (chunk.length > 0) parts.push(crlf);
  }
  if (trailer !== undefined) {
    const signature = sign('AWS4-HMAC-SHA256-TRAILER', [sha256(`${trailer}\n`)]);
    parts.push(Buffer.from(`${trailer}\r\nx-amz-trailer-signature:${signature}\r\n`));
  }
  return Buffer.concat([...parts, crlf]);
}

const crlf = Buffer.from('\r\n');

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
