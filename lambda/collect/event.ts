import * as z from 'zod/mini';
import { members, requestId } from '../../archive/format/cluster-schema';
import type { ConfiguredCluster } from '../../archive/format/configuration';
import type { Shard } from '../../archive/format/shard';
import { eventTime, InvalidEventError, readEvent } from '../read-event';

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

/** That the monitoring service outside is to hear of a run that is complete in all its shards. */
export interface HeartbeatRequest {
  readonly run: Date;
  /** How many shards the run has. */
  readonly shards: number;
}

const isoTime = 'a time such as 2026-11-20T10:00:00Z';
const shardCount = z.int('a number of shards of at least 1').check(z.positive('a number of shards of at least 1'));

/** Built per call because a uid is known only if it is configured. */
function eventSchema(configured: ReadonlySet<string> | undefined, now: Date) {
  const isConfigured = (value: string) => configured?.has(value) ?? true;
  const uid = z.string('the uid of a cluster').check(z.refine(isConfigured, 'the uid of a configured cluster'));
  const index = 'an index from 0 that is less than count';
  return members({
    scheduledTime: z.optional(eventTime(now, isoTime)),
    clusters: z.optional(
      z.array(uid, 'a list of uids').check(z.minLength(1, 'at least one uid, or no member clusters at all')),
    ),
    requestId: z.optional(requestId),
    dryRun: z.optional(z.boolean('true or false')),
    shard: z.optional(
      members({
        index: z.int(index).check(z.nonnegative(index)),
        count: shardCount,
      }).check(z.refine((shard) => shard.index < shard.count, index)),
    ),
    newRun: z.optional(eventTime(now, isoTime)),
    run: z.optional(eventTime(now, "an earlier run's time such as 2026-11-20T10:00:00.000Z or 20261120T100000.000Z")),
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

/**
 * What the state machine asks for once all shards of a run have succeeded.
 * @returns undefined: the event asks for a run
 * @throws InvalidEventError as {@link parseEvent}
 */
export function parseHeartbeat(event: unknown, now: Date): HeartbeatRequest | undefined {
  if (typeof event !== 'object' || event === null || !('heartbeat' in event)) return undefined;
  const schema = members({ scheduledTime: eventTime(now, isoTime), heartbeat: members({ shards: shardCount }) });
  const { scheduledTime, heartbeat } = readEvent(schema, event, 'nobody was told');
  return { run: scheduledTime, shards: heartbeat.shards };
}
