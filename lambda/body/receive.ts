import { createHash } from 'node:crypto';
import type { Content } from '../archive/archive-object';
import type { BodyFacts, EncodedBy } from '../resources';
import { type BodyCheck, BodyTooLargeError } from './body-check';
import { CodedBody, type CodedTransfer, KeptBody } from './coded-body';
import type { Compressor } from './compress';
import { CompressedBody } from './compressed-body';
import { Spool } from './spool';

export interface Receiver {
  readonly spoolDirectory: string;
  readonly compressor: Compressor;
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
  /** Length of the compressed content in bytes. */
  readonly storedLength: number;
  /** Who has compressed the content. */
  readonly encodedBy: EncodedBy;
  /** The compressed content. */
  readonly content: Content;
  /** Removes the temporary file, if there is one; to be called in every outcome. */
  release(): Promise<void>;
}

/**
 * Receives one body whole while it is counted, decoded, checked and hashed; memory does not grow with the body. A body
 * that comes in the archive's own compression and is archived as received is kept as it came; any other is compressed.
 * @param transfer left out: the body has no content coding
 * @throws BodyTooLargeError, CodingError, InvalidBodyError, NotDecodableError, SpoolError; whatever the source throws passes through
 */
export async function receive(
  source: AsyncIterable<Buffer>,
  check: BodyCheck,
  { spoolDirectory, compressor, maxBytes }: Receiver,
  transfer?: CodedTransfer,
): Promise<ReceivedBody> {
  const hash = createHash('sha256');
  const isKept = transfer?.coding === compressor.compression && check.isAsReceived;
  const spool = isKept ? new Spool(spoolDirectory) : undefined;
  const coded = transfer && new CodedBody(source, transfer, maxBytes, spool);
  const destination =
    spool === undefined ? new CompressedBody(compressor, spoolDirectory, hash) : new KeptBody(spool, hash);
  const release = () => destination.release();
  let decodedLength = 0;
  let length = 0;
  try {
    for await (const chunk of coded?.content() ?? source) {
      decodedLength += chunk.length;
      if (decodedLength > maxBytes) throw new BodyTooLargeError(maxBytes);
      const content = check.write(chunk);
      if (content.length === 0) continue;
      length += content.length;
      const written = destination.write(content);
      // To wait for nothing makes garbage too.
      if (written !== undefined) await written;
    }
    const facts = check.end();
    const content = await destination.end();
    return {
      facts,
      sha256: hash.digest('hex'),
      length,
      receivedLength: coded?.receivedBytes ?? decodedLength,
      storedLength: content.length,
      encodedBy: destination.encodedBy,
      content,
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}
