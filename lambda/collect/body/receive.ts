import { createHash } from 'node:crypto';
import type { BodyFacts, EncodedBy } from '../../../archive/format/resources';
import type { Content } from '../put/archive-object';
import { type BodyCheck, InvalidBodyError } from './body-check';
import { compress, inPieces } from './compress';
import { codedPieceBytes, gunzipped } from './content-coding';
import { Spool } from './spool';

/**
 * Length in bytes of the decoder's output buffers. With 16 KB, Node's own choice, gzip takes nearly twice as long; twice as
 * much as here is no faster, and leaves more garbage. Content that is compressed again is copied to other buffers anyway.
 */
const outputBytes = { kept: 128 * 1024, compressedAgain: 64 * 1024 } as const;

export interface Receiver {
  readonly spoolDirectory: string;
  /** Largest body accepted, in bytes, decoded and as it comes. */
  readonly maxBytes: number;
}

/** A body that arrived whole and passed its check, compressed and ready for one PutObject. */
export interface ReceivedBody {
  readonly facts: BodyFacts;
  /** SHA-256 of the uncompressed content, lower-case hex. */
  readonly sha256: string;
  /** Length of the uncompressed content in bytes. */
  readonly length: number;
  /** Length of the body as it came, in bytes. */
  readonly receivedLength: number;
  /** Who has compressed the content. */
  readonly encodedBy: EncodedBy;
  /** The compressed content. */
  readonly content: Content;
  /** Removes the temporary file, if there is one; to be called in every outcome. */
  release(): Promise<void>;
}

/**
 * Receives one body whole while it is counted, decoded, checked and hashed; memory does not grow with the body. A body
 * that comes in gzip and is archived as received is kept as it came; any other is compressed.
 * @param gzip the body comes in gzip; its signal ends decoding. Left out: the body has no content coding
 * @throws CodingError, InvalidBodyError, NotDecodableError, SpoolError; whatever the source throws passes through
 */
export async function receive(
  source: AsyncIterable<Buffer>,
  check: BodyCheck,
  { spoolDirectory, maxBytes }: Receiver,
  gzip?: { readonly signal: AbortSignal },
): Promise<ReceivedBody> {
  const spool = new Spool(spoolDirectory);
  const release = () => spool.release();
  const isKept = gzip !== undefined && check.isAsReceived;
  const hash = createHash('sha256');
  const bounded = (bytes: number) => {
    if (bytes > maxBytes)
      throw new InvalidBodyError(`The body has more than ${maxBytes} bytes; raise limits.maxBodyMiB if that is right`);
    return bytes;
  };
  let codedLength = 0;
  let decodedLength = 0;
  let length = 0;
  let facts: BodyFacts = {};

  async function* coded(): AsyncGenerator<Buffer, undefined> {
    for await (const piece of inPieces(source, codedPieceBytes)) {
      // The coded bytes count too: a gzip stream may go on for ever without any content.
      codedLength = bounded(codedLength + piece.length);
      if (isKept) await spool.write(piece);
      yield piece;
    }
  }
  async function* checked(): AsyncGenerator<Buffer> {
    const { kept, compressedAgain } = outputBytes;
    for await (const chunk of gzip ? gunzipped(coded(), gzip.signal, isKept ? kept : compressedAgain) : source) {
      decodedLength = bounded(decodedLength + chunk.length);
      const content = check.write(chunk);
      length += content.length;
      hash.update(content);
      yield content;
    }
    facts = check.end();
  }

  try {
    const contents = checked();
    if (isKept) while ((await contents.next()).done !== true);
    const content = isKept ? await spool.end() : await compress(contents, spool);
    return {
      facts,
      sha256: hash.digest('hex'),
      length,
      receivedLength: gzip ? codedLength : decodedLength,
      encodedBy: isKept ? 'service' : 'collector',
      content,
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}
