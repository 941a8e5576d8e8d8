import { pipeline, type Readable } from 'node:stream';
import type { Resource } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { DamagedObjectError, damageOf, openContent } from '../../lambda/verify/open-content';
import { LogText } from './log-text';

/** Most content that is held in memory for a comparison, in bytes. */
const maxTextBytes = 64 * 1024 * 1024;

/** The content is too large to be compared in memory. */
export class TextTooLargeError extends Error {
  override readonly name = 'TextTooLargeError';
}

/**
 * The text of an object whole: of a log its text, of a manifest itself. What is not UTF-8 becomes U+FFFD.
 * @throws TextTooLargeError
 * @throws DamagedObjectError if the content is not what was archived
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function readText(reader: ArchiveReader, key: string, resource: Resource): Promise<string> {
  const content = await openContent(reader, key);
  if (content === undefined) throw new DamagedObjectError(`Reading ${key} failed: it is no longer there`);
  if (content.facts.length > maxTextBytes) {
    content.body.destroy();
    throw new TextTooLargeError(
      `Comparing ${key} failed: it has ${content.facts.length} bytes, more than ${maxTextBytes}; ` +
        'write both with show into files and compare those',
    );
  }
  try {
    const source: Readable = resource === 'log' ? pipeline(content.body, new LogText(), () => undefined) : content.body;
    const chunks: Buffer[] = [];
    for await (const chunk of source as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    throw new DamagedObjectError(`Reading ${key} failed: ${damage}`, { cause: error });
  }
}
