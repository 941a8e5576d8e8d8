import { isUtf8 } from 'node:buffer';
import type * as z from 'zod/mini';
import { type RunRecordName, shardName } from '../archive/archive-layout';
import {
  largestRecordBytes,
  type Outcome,
  outcomeSchema,
  type RunRecord,
  RunRecordError,
  runSchema,
  type StoredOutcomes,
  type StoredRecord,
} from './run-record';

/** Longest line of a run record in bytes, without its LF. What the service can put into an outcome is far less. */
export const longestLineBytes = 1024 * 1024;

/** A run record as it is stored: the run, and then each outcome. Every line ends with LF. */
export function* recordLines({ outcomes, ...run }: RunRecord): Generator<string> {
  yield `${JSON.stringify({ ...run, outcomes: outcomes.length })}\n`;
  for (const outcome of outcomes) yield `${JSON.stringify(outcome)}\n`;
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Reads a run record back, chunk by chunk, and judges each line as soon as it is whole. The bytes are untrusted: whoever may
 * write to the archive may have written them. Every method
 * @throws RunRecordError with the bare reason if they are not a valid record of the attempt
 */
export class RunRecordParser {
  readonly #name: RunRecordName;
  readonly #bytes: Buffer;
  #length = 0;
  #run: z.infer<typeof runSchema> | undefined;
  /** Where each line ends, behind its LF. */
  readonly #ends: number[] = [];

  /**
   * @param name the attempt that its key names
   * @param length of the record, in bytes
   */
  constructor(name: RunRecordName, length: number) {
    if (length > largestRecordBytes) throw new RunRecordError(`it is longer than ${largestRecordBytes} bytes`);
    this.#name = name;
    this.#bytes = Buffer.allocUnsafe(length);
  }

  add(chunk: Buffer): void {
    const from = this.#length;
    if (from + chunk.length > this.#bytes.length) throw invalid('it is longer than it was said to be');
    this.#length += chunk.copy(this.#bytes, from);
    const bytes = this.#bytes.subarray(0, this.#length);
    for (let at = bytes.indexOf(lineFeed, from); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
      this.#take(bytes.subarray(this.#begin, at));
      this.#ends.push(at + 1);
    }
    if (this.#length - this.#begin > longestLineBytes) throw this.#invalidLine(tooLong);
  }

  end(): StoredRecord {
    if (this.#begin < this.#length) throw this.#invalidLine('it does not end with LF');
    if (this.#run === undefined) throw invalid('it is empty');
    const count = this.#ends.length - 1;
    if (count < this.#run.outcomes) throw invalid(`it has ${count} of ${this.#run.outcomes} outcomes`);
    return { ...this.#run, outcomes: new OutcomeLines(this.#bytes, this.#ends) };
  }

  /** Where the line begins that is not whole yet. */
  get #begin(): number {
    return this.#ends.at(-1) ?? 0;
  }

  #take(line: Buffer): void {
    if (line.length > longestLineBytes) throw this.#invalidLine(tooLong);
    if (!isUtf8(line)) throw this.#invalidLine('it is not UTF-8');
    // JSON has it as white space. Who reads lines, Athena for one, may take it for the end of one.
    if (line.includes(carriageReturn)) throw this.#invalidLine('it has a carriage return');
    const json = this.#parseJson(line);
    if (this.#run === undefined) this.#run = this.#runOf(json);
    else if (this.#ends.length > this.#run.outcomes) throw invalid(`it has more than ${this.#run.outcomes} outcomes`);
    else this.#validate(outcomeSchema, json);
  }

  #parseJson(line: Buffer): unknown {
    try {
      return JSON.parse(line.toString());
    } catch (error) {
      throw this.#invalidLine('it is not JSON', error);
    }
  }

  #runOf(json: unknown): z.infer<typeof runSchema> {
    const run = this.#validate(runSchema, json);
    const name = this.#name;
    const isSame =
      run.run === name.run.toISOString() &&
      run.attempt === name.attempt &&
      shardName(run.shard) === shardName(name.shard);
    if (!isSame) throw new RunRecordError('its content names another run, shard or attempt than its key');
    return run;
  }

  #validate<Schema extends z.ZodMiniType>(schema: Schema, json: unknown): z.infer<Schema> {
    const { success, data, error } = schema.safeParse(json);
    if (success) return data;
    const [issue] = error.issues;
    throw this.#invalidLine(`${issue?.path.map(String).join('.') || 'it'}: ${issue?.message}`);
  }

  #invalidLine(problem: string, cause?: unknown): RunRecordError {
    return invalid(`line ${this.#ends.length + 1}: ${problem}`, cause);
  }
}

const tooLong = `it is longer than ${longestLineBytes} bytes`;

function invalid(problem: string, cause?: unknown): RunRecordError {
  return new RunRecordError(`it is not a valid run record: ${problem}`, { cause });
}

/**
 * Outcomes as lines, which were validated: each is parsed anew whenever it is asked for. 100,000 outcomes take 45 MB as text,
 * and many times that as objects.
 */
class OutcomeLines implements StoredOutcomes {
  readonly #bytes: Buffer;
  /** Where each line ends; the first is that of the run. */
  readonly #ends: readonly number[];

  constructor(bytes: Buffer, ends: readonly number[]) {
    this.#bytes = bytes;
    this.#ends = ends;
  }

  at(index: number): Outcome | undefined {
    const [begin, end] = [this.#ends[index], this.#ends[index + 1]];
    if (begin === undefined || end === undefined) return undefined;
    const outcome: Record<string, unknown> = JSON.parse(this.#bytes.toString('utf8', begin, end));
    for (const name of Object.keys(outcome)) if (!memberNames.has(name)) delete outcome[name];
    return outcome as Outcome;
  }

  *[Symbol.iterator](): Generator<Outcome> {
    for (let index = 0; index < this.#ends.length - 1; index += 1) yield this.at(index) as Outcome;
  }
}

const memberNames: ReadonlySet<string> = new Set(Object.keys(outcomeSchema.shape));
