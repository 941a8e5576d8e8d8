import { Readable } from 'node:stream';
import { type ObjectName, objectKey } from '../../archive/format/keys';
import { problems } from '../../archive/format/problems';
import { ArchiveReadError, type Body, damageOf, openContent } from '../../archive/read';
import type { ContentHashes } from '../archive/changes';
import { type TextParts, textOf } from '../archive/read-text';
import type { Remark } from '../archive/recorded-object';
import type { RunReader } from '../archive/run-reader';
import type { LinePattern } from './line-pattern';
import { type FoundLine, LineSearch } from './line-search';

/** An object to search. Of a fleet there is no room for more of each. */
export interface SearchedObject extends ObjectName {
  /** What the run records say of it. */
  readonly recorded: ContentHashes;
  /** Of a joined log: what no log before it has, and how many lines are before what is below; undefined: all of it. */
  readonly parts?: (TextParts & { readonly lines: number }) | undefined;
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
  problem: Remark | undefined;
  /** Of its content; undefined: it could not be opened. */
  sha256: string | undefined;
}

/** Output that is collected before it is handed on, in characters. */
const blockLength = 16 * 1024;

/** Blocks of output that wait while the output of objects before this one is printed. */
const waitingBlocks = 4;

/** Searches a small object at once. A large one is begun, and pauses while the output is not read. */
export async function searchObject(
  reader: RunReader,
  object: SearchedObject,
  { pattern, context, formatOf }: ObjectSearchOptions,
): Promise<ObjectSearch> {
  const { resource, parts } = object;
  const key = objectKey(object);
  const format = formatOf(object);
  let block = '';
  const onFound = (line: FoundLine) => {
    block += format(line);
  };
  const lines = new LineSearch({ matches: pattern, context, onFound, parts });
  const search: ObjectSearch = { object, output: [], lines, problem: undefined, sha256: undefined };
  const blocks = async function* (body: Body) {
    try {
      for await (const chunk of textOf(body, resource, parts)) {
        lines.write(chunk);
        if (block.length < blockLength) continue;
        yield block;
        block = '';
      }
      lines.end();
    } catch (error) {
      search.problem = problemOf(key, error);
    }
    if (block !== '') yield block;
  };
  try {
    const opened = await reader.archive.open(key);
    if (opened === undefined) {
      search.problem = await goneProblem(reader, object);
      return search;
    }
    const { body, facts } = openContent(key, opened);
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
    search.problem = problemOf(key, error);
  }
  return search;
}

/** Says of an object that its run archived, and that is not there, whether it is missing. */
async function goneProblem(reader: RunReader, object: SearchedObject): Promise<Remark> {
  const expired: Remark = {
    kind: 'note',
    key: objectKey(object),
    problem: 'not searched: the lifecycle has removed it since',
  };
  return (await reader.held.goneAt(object)) ?? expired;
}

function problemOf(key: string, error: unknown): Remark {
  const kind = error instanceof ArchiveReadError ? 'unreadable' : 'damaged';
  return { kind, key, problem: `not searched: ${damageOf(error) ?? (error as Error).message}` };
}

/** What is wrong with an object that was searched; undefined: nothing, and a run record has its hash. */
export function remarkOn({ object, problem, sha256 }: ObjectSearch): Remark | undefined {
  const { recorded } = object;
  if (problem !== undefined || sha256 === recorded.sha256) return problem;
  return otherContent(objectKey(object), recorded.sha256);
}

/** What is wrong with an object whose content has another hash than its run record says. @param recorded undefined: it has none */
export function otherContent(key: string, recorded: string | undefined): Remark {
  return recorded === undefined
    ? { kind: 'note', key, problem: problems.withoutHash }
    : { kind: 'contradiction', key, problem: problems.otherThanRecord(['SHA-256']) };
}
