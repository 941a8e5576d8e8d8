import { objectKey } from '../../archive/format/keys';
import { formatTime } from '../terminal/format';
import { escapedJson, printable, printableLines } from '../terminal/printable';
import { print, type Terminal } from '../terminal/terminal';
import type { FoundLine } from './line-search';
import type { ObjectSearch, SearchedObject } from './search-object';

export interface SearchPrinterOptions {
  readonly json?: boolean;
  /** How many lines match, instead of the lines. */
  readonly count?: boolean;
  readonly context: number;
  /** Whether control characters are written out. */
  readonly escape: boolean;
}

/** Prints searches one after the other. */
export class SearchPrinter {
  /** Lines that match. */
  matches = 0;
  /** Objects with such lines. */
  objects = 0;
  cutLines = 0;
  readonly #terminal: Terminal;
  readonly #options: SearchPrinterOptions;
  /** The object whose lines were printed last. */
  #printed: SearchedObject | undefined;

  constructor(terminal: Terminal, options: SearchPrinterOptions) {
    this.#terminal = terminal;
    this.#options = options;
  }

  /** Makes output of the lines of an object; none if lines are only counted. */
  readonly formatOf = (object: SearchedObject): ((line: FoundLine) => string) => {
    const { json, count, escape: isEscaped } = this.#options;
    if (count === true) return () => '';
    if (json === true) return (line) => this.#jsonOf(line, object);
    const [ofMatch, ofContext] = [this.#prefixOf(object, ':'), this.#prefixOf(object, '-')];
    return ({ text, isMatch, isApart }) => {
      const shown = isEscaped ? printableLines(text) : text;
      return `${isApart ? '--\n' : ''}${isMatch ? ofMatch : ofContext} ${shown}\n`;
    };
  };

  /** Prints what a search finds, as it comes. */
  async print(search: ObjectSearch): Promise<void> {
    const { object, output, lines } = search;
    const { count } = this.#options;
    for await (const block of output as AsyncIterable<string>) await this.#printBlock(block, object);
    const { matches, cutLines } = lines;
    if (count === true && matches > 0) await this.#printBlock(this.#countOf(object, matches), object);
    this.matches += matches;
    this.objects += matches > 0 ? 1 : 0;
    this.cutLines += cutLines;
  }

  /** To be called after the last search. */
  async end(): Promise<void> {
    if (this.#options.json === true) await print(this.#terminal.out, this.#printed === undefined ? '[]\n' : '\n]\n');
  }

  async #printBlock(block: string, object: SearchedObject): Promise<void> {
    const { json, count, context } = this.#options;
    const before = this.#printed;
    this.#printed = object;
    let text = block;
    if (json === true) text = before === undefined ? `[${block.slice(1)}` : block;
    else if (count !== true && context > 0 && before !== undefined && before !== object) text = `--\n${block}`;
    await print(this.#terminal.out, text);
  }

  #prefixOf({ cluster, run }: SearchedObject, mark: string): string {
    return this.#terminal.colors.cyan(`${printable(cluster)} ${formatTime(run)}${mark}`);
  }

  /** An element of the array; the comma before the first becomes the array's bracket. */
  #jsonOf({ number, text, isMatch }: FoundLine, { cluster, resource, run }: SearchedObject): string {
    const context = this.#options.context > 0 ? { match: isMatch } : {};
    return `,\n${escapedJson({ cluster, resource, run, line: number, ...context, text })}`;
  }

  #countOf(object: SearchedObject, matches: number): string {
    const { cluster, resource, run } = object;
    return this.#options.json === true
      ? `,\n${escapedJson({ cluster, resource, run, key: objectKey(object), matches })}`
      : `${this.#prefixOf(object, ':')} ${matches}\n`;
  }
}
