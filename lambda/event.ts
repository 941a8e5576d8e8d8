import * as z from 'zod/mini';
import { parseStamp, type Shard } from './archive/archive-layout';
import { readTime } from './archive/object-metadata';
import { members, requestId } from './list/cluster-schema';
import { type ConfigProblem, parsing, problemLines, problemsOf } from './list/schema-problems';
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
    problems: readonly ConfigProblem[],
    undone = 'nothing was collected',
    hint = 'An empty event {} collects everything.',
  ) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    const lines = problemLines(problems).map((line) => `- ${line}`);
    super([`Reading the event failed: ${count}; ${undone}.`, ...lines, hint].join('\n'));
  }
}

const isoForm = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i;

/**
 * A date, or a date and time, in ISO 8601; UTC without a zone. Undefined for a text of another form.
 * @returns an invalid date if the calendar lacks it: 30 February must not name another run
 */
export function parseIsoTime(text: string): Date | undefined {
  const match = isoForm.exec(text);
  if (match === null) return undefined;
  const [, date = '', time = '00:00', zone = 'Z'] = match;
  const isDay = readTime(`${date}T00:00:00.000Z`) !== undefined;
  return new Date(isDay ? `${date}T${time}${zone}`.toUpperCase() : Number.NaN);
}

/** Whether a time is further ahead than clocks differ: under the name of such a run objects would lie that nobody may delete. */
export function isInFuture(time: Date, now: Date, slackMs = clockSlackMs): boolean {
  return time.getTime() > now.getTime() + slackMs;
}

/** In ISO 8601, or as keys write it. */
const time = (now: Date, expected: string, slackMs?: number) =>
  z.pipe(
    z.string(expected),
    z.transform((value: string, context) => {
      const parsed = parseStamp(value) ?? parseIsoTime(value);
      const isTime = parsed !== undefined && !Number.isNaN(parsed.getTime());
      if (isTime && !isInFuture(parsed, now, slackMs)) return parsed;
      const limit = `a time that is not in the future (now it is ${now.toISOString()})`;
      context.issues.push({ code: 'custom', message: isTime ? limit : expected, input: value });
      return z.NEVER;
    }),
  );

/**
 * @param event as Lambda delivers it; nothing at all means `{}`
 * @param what what did not happen, and what an empty event does
 */
function readEvent<Output>(schema: z.ZodMiniType<Output>, event: unknown, ...what: [undone?: string, hint?: string]) {
  const { data, error } = schema.safeParse(event ?? {}, parsing);
  if (error !== undefined) throw new InvalidEventError(problemsOf(error), ...what);
  return data;
}

/** Built per call because a uid is known only if it is configured. */
function eventSchema(configured: ReadonlySet<string> | undefined, now: Date) {
  const isConfigured = (value: string) => configured?.has(value) ?? true;
  const uid = z.string('the uid of a cluster').check(z.refine(isConfigured, 'the uid of a configured cluster'));
  const index = 'an index from 0 that is less than count';
  const count = 'a number of shards of at least 1';
  return members({
    scheduledTime: z.optional(time(now, 'a time such as 2026-11-20T10:00:00Z')),
    clusters: z.optional(
      z.array(uid, 'a list of uids').check(z.minLength(1, 'at least one uid, or no member clusters at all')),
    ),
    requestId: z.optional(requestId),
    dryRun: z.optional(z.boolean('true or false')),
    shard: z.optional(
      members({
        index: z.int(index).check(z.nonnegative(index)),
        count: z.int(count).check(z.positive(count)),
      }).check(z.refine((shard) => shard.index < shard.count, index)),
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
  const configured = clusters && new Set(clusters.map(({ uid }) => uid));
  const read = readEvent(eventSchema(configured, now), event);
  const { scheduledTime, newRun, run, clusters: subset, requestId, dryRun = false, shard } = read;
  const named = Object.entries({ scheduledTime, newRun, run }).filter(([, time]) => time !== undefined);
  if (named.length > 1)
    throw new InvalidEventError([
      { path: named.map(([name]) => name).join(' and '), received: 'together', expected: 'one of them' },
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
  const schema = members({ scheduledTime: z.optional(time(now, expected, auditSlackMs)) });
  return readEvent(schema, event, 'nothing was audited', 'An empty event {} audits now.').scheduledTime;
}
