import { Readable } from 'node:stream';
import type { Resource } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { damageOf } from '../../lambda/verify/open-content';
import { behind, contentOf, textChunks } from '../archive/read-text';
import { type LinePattern, mayMatchRecord } from './line-pattern';
import { type FoundLine, LineSearch } from './line-search';

/** An object to search. */
export interface SearchedObject {
  readonly key: string;
  readonly cluster: string;
  readonly resource: Resource;
  readonly run: Date;
  /** Of a joined log: where the lines begin that no log before it has, and how many are before them. */
  readonly from?: { readonly bytes: number; readonly lines: number };
}

export interface ObjectSearchOptions {
  readonly pattern: LinePattern;
  readonly context: number;
  /** Makes output of a line; left out: lines are only counted. */
  readonly format?: ((line: FoundLine, object: SearchedObject) => string) | undefined;
}

/** Output that is collected before it is handed on, in characters. */
const blockLength = 16 * 1024;

/** Blocks of output that wait while the output of objects before this one is printed. */
const waitingBlocks = 4;

/** The search of one object. It begins at once, and pauses while its output is not read. */
export class ObjectSearch {
  readonly object: SearchedObject;
  /** Blocks of text, in the order of the lines. Never ends with an error: {@link problem} has it. */
  readonly output: Readable;
  /** Why the object was not searched to its end, or is not what was archived. Known at the end of the output. */
  problem: string | undefined;
  readonly #lines: LineSearch;
  #block = '';

  constructor(reader: ArchiveReader, object: SearchedObject, { pattern, context, format }: ObjectSearchOptions) {
    this.object = object;
    const onFound = (line: FoundLine) => {
      if (format !== undefined) this.#block += format(line, object);
    };
    this.#lines = new LineSearch({ matches: pattern.matches, context, onFound, linesBefore: object.from?.lines ?? 0 });
    this.output = Readable.from(this.#search(reader, pattern), { highWaterMark: waitingBlocks });
    this.output.read(0);
  }

  /** Lines that match. */
  get matches(): number {
    return this.#lines.matches;
  }

  /** Lines so long that they were searched in parts. */
  get dividedLines(): number {
    return this.#lines.dividedLines;
  }

  async *#search(reader: ArchiveReader, pattern: LinePattern): AsyncGenerator<string> {
    try {
      for await (const chunk of textOf(reader, this.object, pattern)) {
        this.#lines.write(chunk);
        if (this.#block.length >= blockLength) yield this.#takeBlock();
      }
      this.#lines.end();
    } catch (error) {
      this.problem = damageOf(error) ?? (error as Error).message;
    }
    if (this.#block !== '') yield this.#takeBlock();
  }

  #takeBlock(): string {
    const block = this.#block;
    this.#block = '';
    return block;
  }
}

/** The text to search, in chunks. A log that cannot match gives none, which saves decoding it. */
async function* textOf(
  reader: ArchiveReader,
  { key, resource, from }: SearchedObject,
  pattern: LinePattern,
): AsyncGenerator<Buffer> {
  const { body } = await contentOf(reader, key);
  if (resource === 'log' && !(body instanceof Readable) && !mayMatchRecord(pattern, body[0])) return;
  yield* behind(textChunks(body, resource), from?.bytes ?? 0);
}
