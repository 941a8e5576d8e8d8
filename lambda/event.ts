import * as z from 'zod/mini';
import { parseStamp, type Shard } from './archive/archive-layout';
import type { ConfiguredCluster } from './stack-contract';
import { clockSlackMs } from './time-limits';

/** What one invocation is asked to do. */
export interface RunRequest {
  /** The run to work on; undefined: a new one, named by now. */
  readonly run?: Date | undefined;
  /** Whether the run is an earlier one, whose first record says which clusters it covers. */
  readonly completes: boolean;
  /** Whether the schedule asks, rather than a person. */
  readonly scheduled: boolean;
  /** Uids to work on; undefined: all that the run covers. */
  readonly clusters?: readonly string[] | undefined;
  /** Query parameter `requestId` of every log call; wins over the configuration's. */
  readonly requestId?: string | undefined;
  /** Fetch and check everything, write nothing. */
  readonly dryRun: boolean;
  readonly shard?: Shard | undefined;
}

/** The event is not one the function understands; nothing was read or written. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError';

  /** @param undone what did not happen @param hint what an empty event does */
  constructor(
    problems: readonly string[],
    undone = 'nothing was collected',
    hint = 'An empty event {} collects everything.',
  ) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    const list = problems.map((problem) => `- ${problem}`).join('\n');
    super(`Reading the event failed: ${count}; ${undone}.\n${list}\n${hint}`);
  }
}

const isoForm =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * A date, or a date and time, in ISO 8601; UTC without a zone. Undefined for a text of another form.
 * @returns an invalid date if the calendar lacks it: 30 February must not name another run
 */
export function parseIsoTime(text: string): Date | undefined {
  const match = isoForm.exec(text);
  if (match === null) return undefined;
  const [, date = '', hours = '00', minutes = '00', seconds = '00', fraction = '0', zone = 'Z'] = match;
  const offset = /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const day = new Date(`${date}T00:00:00.000Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
  return new Date(
    isDay ? `${date}T${hours}:${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}` : Number.NaN,
  );
}

/** The time of an event, in ISO 8601 or as keys write it; undefined if it is not a time. */
export function parseEventTime(value: string): Date | undefined {
  const parsed = parseStamp(value) ?? parseIsoTime(value);
  const year = parsed?.getUTCFullYear() ?? Number.NaN;
  // Outside these years ISO 8601 has no four digits, and keys would not sort.
  return year >= 0 && year <= 9999 ? parsed : undefined;
}

/** Whether a time is further ahead than clocks differ: under the name of such a run objects would lie that nobody may delete. */
export function isInFuture(time: Date, now: Date, slackMs = clockSlackMs): boolean {
  return time.getTime() > now.getTime() + slackMs;
}

const time = (now: Date, expected: string, slackMs?: number) =>
  z.pipe(
    z.string(),
    z.transform((value: string, context) => {
      const parsed = parseEventTime(value);
      if (parsed !== undefined && !isInFuture(parsed, now, slackMs)) return parsed;
      const limit = `a time that is not in the future (now it is ${now.toISOString()})`;
      context.issues.push({ code: 'custom', message: parsed === undefined ? expected : limit, input: value });
      return z.NEVER;
    }),
  );

const text = z.string().check(z.minLength(1, 'a text of at least one character'));

/** Built per call because a uid is known only if it is configured. */
function eventSchema(configured: ReadonlySet<string> | undefined, now: Date) {
  const isConfigured = (value: string) => configured?.has(value) ?? true;
  const uid = z.string().check(z.refine(isConfigured, 'the uid of a configured cluster'));
  return z.strictObject({
    scheduledTime: z.optional(time(now, 'a time such as 2026-11-20T10:00:00Z')),
    clusters: z.optional(z.array(uid).check(z.minLength(1, 'at least one uid, or no member clusters at all'))),
    requestId: z.optional(text.check(z.refine((value) => value.isWellFormed(), 'a text without lone surrogates'))),
    dryRun: z.optional(z.boolean()),
    shard: z.optional(
      z
        .strictObject({ index: z.int().check(z.nonnegative()), count: z.int().check(z.positive()) })
        .check(z.refine(({ index, count }) => index < count, 'an index from 0 that is less than count')),
    ),
    newRun: z.optional(time(now, 'a time such as 2026-11-20T10:00:00Z')),
    run: z.optional(time(now, "an earlier run's time such as 2026-11-20T10:00:00.000Z or 20261120T100000.000Z")),
  });
}

/**
 * @param event as Lambda delivers it; nothing at all means `{}`
 * @param clusters those that are configured; undefined: nobody knows yet
 * @param now a run may not be named by a later time
 * @throws InvalidEventError with every problem at once: its path, the value received and what was expected
 */
export function parseEvent(event: unknown, clusters: readonly ConfiguredCluster[] | undefined, now: Date): RunRequest {
  const received = event ?? {};
  const configured = clusters && new Set(clusters.map(({ uid }) => uid));
  const schema = eventSchema(configured, now);
  const parsed = schema.safeParse(received, { reportInput: true });
  if (!parsed.success) throw new InvalidEventError(problemsOf(parsed.error, schema));
  const { scheduledTime, newRun, run, clusters: subset, requestId, dryRun = false, shard } = parsed.data;
  const named = Object.entries({ scheduledTime, newRun, run }).filter(([, time]) => time !== undefined);
  if (named.length > 1)
    throw new InvalidEventError([
      `${named.map(([name]) => name).join(' and ')}: received together, expected one of them`,
    ]);
  const chosen = subset === undefined ? undefined : [...new Set(subset)];
  return {
    run: run ?? newRun ?? scheduledTime,
    completes: run !== undefined,
    // A person may name a time of the schedule too; the schedule itself asks for nothing more.
    scheduled: scheduledTime !== undefined && subset === undefined && requestId === undefined && !dryRun,
    clusters: chosen,
    requestId,
    dryRun,
    shard,
  };
}

/** How far the clocks of the scheduler and of the audit may differ, in milliseconds. */
const auditSlackMs = 60_000;

/**
 * @param event as Lambda delivers it to the audit; nothing at all means `{}`
 * @param now whoever may invoke the audit must not take the place of a later one
 * @returns the time that names the audit; undefined: now
 * @throws InvalidEventError with every problem at once
 */
export function parseAuditEvent(event: unknown, now: Date): Date | undefined {
  const expected = 'a time such as 2026-11-20T06:30:00Z';
  const schema = z.strictObject({ scheduledTime: z.optional(time(now, expected, auditSlackMs)) });
  const parsed = schema.safeParse(event ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data.scheduledTime;
  const problems = problemsOf(parsed.error, schema);
  throw new InvalidEventError(problems, 'nothing was audited', 'An empty event {} audits now.');
}

function problemsOf({ issues }: z.core.$ZodError, { shape }: { readonly shape: object }): string[] {
  return issues.flatMap((issue) => describe(issue, Object.keys(shape).join(', ')));
}

function describe(issue: z.core.$ZodIssue, members: string): string[] {
  const path = issue.path.map(String).join('.') || 'event';
  if (issue.code === 'unrecognized_keys') {
    const where = issue.path.length === 0 ? members : 'index, count';
    return issue.keys.map((key) => `${path}: received the unknown member ${quote(key)}, expected only ${where}`);
  }
  return [`${path}: received ${quote(issue.input)}, expected ${expectation(issue)}`];
}

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `a value of type ${issue.expected}`;
  if (issue.code === 'too_small' && issue.origin === 'number') return `a number of at least ${issue.minimum}`;
  return issue.message;
}

/** A received value as JSON, short: an event may carry anything. */
export function quote(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 80 ? `${json.slice(0, 80)}…` : json;
}
