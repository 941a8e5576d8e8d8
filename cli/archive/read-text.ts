import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { DamagedObjectError } from '../../archive/format/damaged-object-error';
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

/** Parts of a text of a log: some lines, and what is behind one of its bytes. */
export interface TextParts {
  /** Lines, from 0, and the first one behind them. */
  readonly above: { readonly from: number; readonly to: number };
  /** In bytes of the text. */
  readonly below: number;
}

const newline = 0x0a;

/**
 * The text of content in chunks of UTF-8. Throws what the content's body ends with, or a JsonError.
 * @param parts left out: all of it. The lines above end before what is below begins
 */
export async function* textOf(body: Body, resource: Resource, parts?: TextParts): AsyncGenerator<Buffer> {
  const { above, below } = parts ?? { above: { from: 0, to: 0 }, below: 0 };
  let left = below;
  let line = 0;
  for await (const chunk of resources[resource].holdsLog ? new LogTextDecoder().decode(body) : body) {
    if (line < above.to) {
      const start = behindLines(chunk, above.from - line);
      const end = behindLines(chunk, above.to - line);
      if (start.at < end.at) yield chunk.subarray(start.at, end.at);
      line += end.lines;
    }
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(left - chunk.length, 0);
  }
}

/** Where so many lines of a chunk end; behind all of it if it has fewer line ends, and how many it has up to there. */
function behindLines(chunk: Buffer, most: number): { readonly at: number; readonly lines: number } {
  let at = 0;
  for (let lines = 0; lines < most; lines += 1) {
    const end = chunk.indexOf(newline, at);
    if (end < 0) return { at: chunk.length, lines };
    at = end + 1;
  }
  return { at, lines: Math.max(most, 0) };
}
