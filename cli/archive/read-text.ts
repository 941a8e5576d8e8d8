import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { DamagedObjectError } from '../../archive/format/damage';
import { LogTextDecoder } from '../../archive/format/log-text';
import type { ObjectFacts } from '../../archive/format/object-metadata';
import { type Resource, resources } from '../../archive/format/resources';
import {
  ArchiveReadError,
  type ArchiveReader,
  type Body,
  damageOf,
  type OpenedContent,
  openContent,
} from '../../archive/read';

/** Most content that is held in memory for a comparison, in bytes. */
const maxTextBytes = 64 * 1024 * 1024;

export interface ReadText {
  /** Of a log its text, of a manifest the manifest. Bytes that are not UTF-8 become U+FFFD. */
  readonly text: string;
  readonly facts: ObjectFacts;
}

/**
 * The whole text of an object.
 * @throws DamagedObjectError if the content is not what was archived
 * @throws ArchiveReadError if the archive cannot be read, or the content is too large to be compared in memory
 */
export async function readText(reader: ArchiveReader, key: string, resource: Resource): Promise<ReadText> {
  try {
    const { body, facts } = await contentOf(reader, key);
    if (body instanceof Readable && facts.length > maxTextBytes) {
      body.destroy();
      throw new ArchiveReadError(
        `Comparing ${key} failed: it has ${facts.length} bytes, more than ${maxTextBytes}; ` +
          'write both with show into files and compare those',
      );
    }
    return { text: (await buffer(textOf(body, resource))).toString('utf8'), facts };
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    throw new DamagedObjectError(`Reading ${key} failed: ${damage}`, { cause: error });
  }
}

/** @throws DamagedObjectError if it is not what was archived, or not there */
export async function contentOf(reader: ArchiveReader, key: string): Promise<OpenedContent> {
  const opened = await reader.open(key);
  if (opened === undefined) throw new DamagedObjectError('it is no longer there');
  return openContent(key, opened);
}

/**
 * The text of content in chunks of UTF-8, behind its first so many bytes. Throws what the content's body ends with, or a
 * JsonError.
 */
export async function* textOf(body: Body, resource: Resource, bytes = 0): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of resources[resource].holdsLog ? new LogTextDecoder().decode(body) : body) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(left - chunk.length, 0);
  }
}
