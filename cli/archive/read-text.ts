import { buffer } from 'node:stream/consumers';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { Resource } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { DamagedObjectError, damageOf, type ReadContent, readContent } from '../../lambda/verify/open-content';

/** Most content that is held in memory for a comparison, in bytes. */
const maxTextBytes = 64 * 1024 * 1024;

/** The content is too large to be compared in memory. */
export class TextTooLargeError extends Error {
  override readonly name = 'TextTooLargeError';
}

/**
 * The whole text of an object: of a log its text, of a manifest the manifest. Bytes that are not UTF-8 become U+FFFD.
 * @throws TextTooLargeError
 * @throws DamagedObjectError if the content is not what was archived
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readText(reader: ArchiveReader, key: string, resource: Resource): Promise<string> {
  try {
    const { body, chunks, facts } = await readChunks(reader, key);
    if (!Buffer.isBuffer(body) && facts.length > maxTextBytes) {
      body.destroy();
      throw new TextTooLargeError(
        `Comparing ${key} failed: it has ${facts.length} bytes, more than ${maxTextBytes}; ` +
          'write both with show into files and compare those',
      );
    }
    return (await buffer(textChunks(chunks, resource))).toString('utf8');
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    throw new DamagedObjectError(`Reading ${key} failed: ${damage}`, { cause: error });
  }
}

/** Content in chunks: a single one, if it is small. */
export type Chunks = AsyncIterable<Buffer> | readonly Buffer[];

/** @throws DamagedObjectError if it is not what was archived, or not there */
export async function readChunks(reader: ArchiveReader, key: string): Promise<ReadContent & { chunks: Chunks }> {
  const content = await readContent(reader, key);
  if (content === undefined) throw new DamagedObjectError('it is no longer there');
  const { body } = content;
  return { ...content, chunks: Buffer.isBuffer(body) ? [body] : (body as AsyncIterable<Buffer>) };
}

/** The text of content in chunks of UTF-8. Throws what the content's body ends with, or a JsonError. */
export async function* textChunks(chunks: Chunks, resource: Resource): AsyncGenerator<Buffer> {
  yield* resource === 'manifest' ? chunks : new LogTextDecoder().decode(chunks);
}

/** What is behind the first so many bytes. */
export async function* behind(chunks: Chunks, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(left - chunk.length, 0);
  }
}
