import type { RunRecordName } from '../archive/archive-layout';
import { type Outcome, outcomeSchema, type RunRecord, RunRecordError, runRecordSchema } from './run-record';

/** Outcomes that can be read again and again, in their order. */
export interface Outcomes extends Iterable<Outcome> {
  /** Undefined if there is none of this index. */
  at(index: number): Outcome | undefined;
}

/** A run record as it is stored. */
export interface StoredRecord extends Omit<RunRecord, 'outcomes'> {
  readonly outcomes: Outcomes;
}

/**
 * Reads back one run record. Its bytes are untrusted: whoever may write to the archive may have written them.
 * @param name the attempt that its key names
 * @throws RunRecordError with the bare reason if it is not a valid record of that attempt
 */
export function parseRunRecord(bytes: Buffer, name: RunRecordName): StoredRecord {
  const { head, outcomes, problem } = parseJson(bytes);
  const { success, data, error } = runRecordSchema.safeParse(head);
  const invalid = success ? problem : describe(error.issues);
  if (!success || invalid !== undefined) throw new RunRecordError(`it is not a valid run record: ${invalid}`);
  const isSame =
    data.run === name.run.toISOString() &&
    data.attempt === name.attempt &&
    data.shard?.index === name.shard?.index &&
    data.shard?.count === name.shard?.count;
  if (!isSame) throw new RunRecordError('its content names another run, shard or attempt than its key');
  return { ...data, outcomes };
}

function parseJson(bytes: Buffer): Pick<RecordText, 'head' | 'outcomes' | 'problem'> {
  try {
    return new RecordText(bytes);
  } catch (error) {
    throw new RunRecordError('it is not JSON', { cause: error });
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The text of a record, cut at its outcomes: 100,000 of them take 45 MB as text, and many times that as objects. A text is
 * JSON if it is JSON with an empty array for its outcomes, and each outcome is JSON by itself.
 */
class RecordText {
  /** The record with an empty array for its outcomes. */
  readonly head: unknown;
  readonly outcomes: Outcomes;
  /** What is wrong with the first outcome that is not valid. */
  problem: string | undefined;
  readonly #bytes: Buffer;
  /** Indices of the brackets around the outcomes. */
  #begin = 0;
  #end = 0;
  /** Where each valid outcome ends. */
  #ends: number[] = [];

  /** @throws SyntaxError if it is not JSON */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#scan();
    const rest = this.#end === 0 ? '' : this.#text(this.#end, bytes.length);
    this.head = JSON.parse(this.#text(0, this.#end === 0 ? bytes.length : this.#begin + 1) + rest);
    this.outcomes = new OutcomeTexts(bytes, this.#begin, this.#ends);
  }

  /** Finds the last member `outcomes` that is an array, as JSON.parse takes the last of equal names. */
  #scan(): void {
    const bytes = this.#bytes;
    let depth = 0;
    let isInside = false;
    let from = 0;
    let [nameFrom, nameTo] = [0, 0];
    for (let i = 0; i < bytes.length; i += 1) {
      const byte = bytes[i];
      if (byte === quote) {
        const start = i;
        for (i += 1; i < bytes.length && bytes[i] !== quote; i += 1) if (bytes[i] === backslash) i += 1;
        if (depth === 1) [nameFrom, nameTo] = [start, i + 1];
      } else if (byte === openBracket || byte === openBrace) {
        depth += 1;
        if (depth !== 2 || byte === openBrace || nameTo === 0) continue;
        isInside = JSON.parse(this.#text(nameFrom, nameTo)) === 'outcomes';
        if (!isInside) continue;
        [this.#begin, this.#end, this.#ends, this.problem] = [i, 0, [], undefined];
        from = i + 1;
      } else if (byte === comma) {
        if (!isInside || depth !== 2) continue;
        this.#take(from, i);
        from = i + 1;
      } else if (byte === closeBracket || byte === closeBrace) {
        depth -= 1;
        if (!isInside || depth !== 1) continue;
        isInside = false;
        this.#end = i;
        if (from !== this.#begin + 1 || !/^[ \t\r\n]*$/.test(this.#text(from, i))) this.#take(from, i);
      }
    }
  }

  #take(from: number, to: number): void {
    const json: unknown = JSON.parse(this.#text(from, to));
    if (this.problem !== undefined) return;
    const { success, error } = outcomeSchema.safeParse(json);
    if (success) this.#ends.push(to);
    else this.problem = describe(error.issues, ['outcomes', this.#ends.length]);
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to);
  }
}

/** Outcomes as text: each is parsed anew whenever it is asked for. */
class OutcomeTexts implements Outcomes {
  readonly #bytes: Buffer;
  readonly #begin: number;
  readonly #ends: readonly number[];

  constructor(bytes: Buffer, begin: number, ends: readonly number[]) {
    this.#bytes = bytes;
    this.#begin = begin;
    this.#ends = ends;
  }

  at(index: number): Outcome | undefined {
    const end = this.#ends[index];
    if (end === undefined) return undefined;
    const before = this.#ends[index - 1] ?? this.#begin;
    const outcome: Record<string, unknown> = JSON.parse(this.#bytes.toString('utf8', before + 1, end));
    for (const name of Object.keys(outcome)) if (!memberNames.has(name)) delete outcome[name];
    return outcome as Outcome;
  }

  *[Symbol.iterator](): Generator<Outcome> {
    for (let index = 0; index < this.#ends.length; index += 1) yield this.at(index) as Outcome;
  }
}

const memberNames: ReadonlySet<string> = new Set(Object.keys(outcomeSchema.shape));

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function describe([issue]: readonly Issue[], path: readonly PropertyKey[] = []): string {
  const where = [...path, ...(issue?.path ?? [])].map(String).join('.');
  return `${where || 'it'}: ${issue?.message}`;
}
