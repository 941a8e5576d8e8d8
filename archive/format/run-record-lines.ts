import { isUtf8 } from 'node:buffer';
import type * as z from 'zod/mini';
import type { RunRecordName } from './keys';
import { isPlainOutcome } from './plain-outcome';
import {
  type Outcome,
  outcomeSchema,
  type RunRecord,
  RunRecordError,
  runSchema,
  type StoredOutcomes,
  type StoredRecord,
} from './run-record';
import { shardName } from './shard';

/** Longest line of a run record in bytes, without its LF. What the service can put into an outcome is far less. */
export const longestLineBytes = 1024 * 1024;

/** A run record as it is stored: the run, and then each outcome. Every line ends with LF. */
export function* recordLines({ outcomes, ...run }: RunRecord): Generator<string> {
  yield `${JSON.stringify({ ...run, outcomes: outcomes.length })}\n`;
  for (const outcome of outcomes) yield `${JSON.stringify(outcome)}\n`;
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Reads a run record back, and judges each of its lines. The bytes are untrusted: whoever may write to the archive may have
 * written them. They stay in memory with the record.
 * @param name the attempt that its key names
 * @param hasOthers of the same bytes, which were judged before: as {@link StoredOutcomes.hasOthers} had it then. Left out: they were not
 * @throws RunRecordError with the bare reason if they are not a valid record of the attempt
 */
export function parseRunRecord(name: RunRecordName, bytes: Buffer, hasOthers?: boolean): StoredRecord {
  let run: z.infer<typeof runSchema> | undefined;
  /** Where each line ends, behind its LF. */
  const ends: number[] = [];
  let areMore = hasOthers ?? false;
  for (let begin = 0; begin < bytes.length; begin = ends.at(-1) ?? 0) {
    const number = ends.length + 1;
    const end = bytes.indexOf(lineFeed, begin);
    const line = bytes.subarray(begin, end < 0 ? bytes.length : end);
    if (line.length > longestLineBytes) throw invalidLine(number, `it is longer than ${longestLineBytes} bytes`);
    if (end < 0) throw invalidLine(number, 'it does not end with LF');
    if (run === undefined) run = runOf(name, parseLine(number, line));
    else if (ends.length > run.outcomes) throw invalid(`it has more than ${run.outcomes} outcomes`);
    else if (hasOthers === undefined) {
      const json = parseLine(number, line);
      if (!isPlainOutcome(json)) {
        validate(number, outcomeSchema, json);
        areMore = true;
      }
    }
    ends.push(end + 1);
  }
  if (run === undefined) throw invalid('it is empty');
  const count = ends.length - 1;
  if (count < run.outcomes) throw invalid(`it has ${count} of ${run.outcomes} outcomes`);
  return { ...run, outcomes: new OutcomeLines(bytes, ends, areMore) };
}

function parseLine(number: number, line: Buffer): unknown {
  if (!isUtf8(line)) throw invalidLine(number, 'it is not UTF-8');
  // JSON has it as white space. Who reads lines, Athena for one, may take it for the end of one.
  if (line.includes(carriageReturn)) throw invalidLine(number, 'it has a carriage return');
  try {
    return JSON.parse(line.toString());
  } catch (error) {
    throw invalidLine(number, 'it is not JSON', error);
  }
}

function runOf(name: RunRecordName, json: unknown): z.infer<typeof runSchema> {
  const run = validate(1, runSchema, json);
  const isSame =
    run.run === name.run.toISOString() &&
    run.attempt === name.attempt &&
    shardName(run.shard) === shardName(name.shard);
  if (!isSame) throw new RunRecordError('its content names another run, shard or attempt than its key');
  return run;
}

function validate<Schema extends z.ZodMiniType>(number: number, schema: Schema, json: unknown): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(json);
  if (success) return data;
  const [issue] = error.issues;
  throw invalidLine(number, `${issue?.path.map(String).join('.') || 'it'}: ${issue?.message}`);
}

function invalidLine(number: number, problem: string, cause?: unknown): RunRecordError {
  return invalid(`line ${number}: ${problem}`, cause);
}

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
  readonly hasOthers: boolean;

  constructor(bytes: Buffer, ends: readonly number[], hasOthers: boolean) {
    this.#bytes = bytes;
    this.#ends = ends;
    this.hasOthers = hasOthers;
  }

  at(index: number): Outcome | undefined {
    const [begin, end] = [this.#ends[index], this.#ends[index + 1]];
    if (begin === undefined || end === undefined) return undefined;
    const outcome: Record<string, unknown> = JSON.parse(this.#bytes.toString('utf8', begin, end));
    if (this.hasOthers) for (const name of Object.keys(outcome)) if (!memberNames.has(name)) delete outcome[name];
    return outcome as Outcome;
  }

  *[Symbol.iterator](): Generator<Outcome> {
    for (let index = 0; index < this.#ends.length - 1; index += 1) yield this.at(index) as Outcome;
  }
}

const memberNames: ReadonlySet<string> = new Set(Object.keys(outcomeSchema.shape));
