import { Readable } from 'node:stream';
import { type ObjectName, objectKey } from '../../lambda/archive/archive-layout';
import type { ArchiveReader, Body } from '../../lambda/verify/archive-reader';
import { damageOf } from '../../lambda/verify/open-content';
import type { ContentHashes } from '../archive/changes';
import { contentOf, textOf } from '../archive/read-text';
import type { Remark } from '../archive/recorded-object';
import type { LinePattern } from './line-pattern';
import { type FoundLine, LineSearch } from './line-search';

/** An object to search. Of a fleet there is no room for more of each. */
export interface SearchedObject extends ObjectName {
  /** What the run records say of it. */
  readonly recorded: ContentHashes;
  /** Of a joined log: where the lines begin that no log before it has, and how many are before them. */
  readonly from?: { readonly bytes: number; readonly lines: number } | undefined;
}

interface ObjectSearchOptions {
  readonly pattern: LinePattern;
  readonly context: number;
  /** Makes output of the lines of an object. */
  readonly formatOf: (object: SearchedObject) => (line: FoundLine) => string;
}

/** The search of one object. */
export interface ObjectSearch {
  readonly object: SearchedObject;
  /** Blocks of text, in the order of the lines. Never ends with an error: `problem` has it. */
  output: Readable | readonly string[];
  /** Counts while the output is read. */
  readonly lines: Pick<LineSearch, 'matches' | 'cutLines'>;
  /** Why the object was not searched to its end, or is not what was archived. Known at the end of the output. */
  problem: string | undefined;
  /** Of its content; undefined: it could not be opened. */
  sha256: string | undefined;
}

/** Output that is collected before it is handed on, in characters. */
const blockLength = 16 * 1024;

/** Blocks of output that wait while the output of objects before this one is printed. */
const waitingBlocks = 4;

/** Searches a small object at once. A large one is begun, and pauses while the output is not read. */
export async function searchObject(
  reader: ArchiveReader,
  object: SearchedObject,
  { pattern, context, formatOf }: ObjectSearchOptions,
): Promise<ObjectSearch> {
  const { resource, from = { bytes: 0, lines: 0 } } = object;
  const format = formatOf(object);
  let block = '';
  const onFound = (line: FoundLine) => {
    block += format(line);
  };
  const lines = new LineSearch({ matches: pattern, context, onFound, linesBefore: from.lines });
  const search: ObjectSearch = { object, output: [], lines, problem: undefined, sha256: undefined };
  const blocks = async function* (body: Body) {
    try {
      for await (const chunk of textOf(body, resource, from.bytes)) {
        lines.write(chunk);
        if (block.length < blockLength) continue;
        yield block;
        block = '';
      }
      lines.end();
    } catch (error) {
      search.problem = damageOf(error) ?? (error as Error).message;
    }
    if (block !== '') yield block;
  };
  try {
    const { body, facts } = await contentOf(reader, objectKey(object));
    search.sha256 = facts.sha256;
    if (body instanceof Readable) {
      search.output = Readable.from(blocks(body), { highWaterMark: waitingBlocks });
      search.output.read(0);
    } else {
      const output: string[] = [];
      for await (const found of blocks(body)) output.push(found);
      search.output = output;
    }
  } catch (error) {
    search.problem = damageOf(error) ?? (error as Error).message;
  }
  return search;
}

/** What the run record says of an object that was searched, and has another hash than the record's. */
export function remarkOn({ object }: ObjectSearch): Remark {
  return object.recorded.sha256 === undefined
    ? { kind: 'note', text: 'no run record has its hash' }
    : { kind: 'damage', text: 'its run record says another SHA-256 than the object itself' };
}

/** Whether a run record has the hash of what was searched. */
export function isRecorded({ object, sha256 }: ObjectSearch): boolean {
  return sha256 !== undefined && sha256 === object.recorded.sha256;
}
