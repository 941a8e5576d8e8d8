import * as z from 'zod/mini';
import { type MissingShare, parseMissingShare, refusedListText } from '../run-end-text';
import { type DroppedEvent, droppedEvent, type EndedExecution, endedExecution } from './failure-events';

/** What a run leaves that nothing will retry any more. */
export interface LostRun {
  /** Whether it is a whole run of the schedule: what a person starts wakes nobody. */
  readonly isOfSchedule: boolean;
  /** Share of the fleet that is missing, in percent; 100 where no record says: killed, too old, not to be read here. */
  readonly missingPercent: number;
  /** Whether the list of clusters from outside was refused. */
  readonly isListRefused: boolean;
}

/** @returns undefined for what is not a run: an audit, or an event that nobody knows */
export function lostRunIn(event: unknown): LostRun | undefined {
  const dropped = droppedEvent.safeParse(event);
  if (dropped.success) return ofFunction(dropped.data);
  const ended = endedExecution.safeParse(event);
  return ended.success ? ofExecution(ended.data) : undefined;
}

/** What a run was asked for, as far as it says whose run it is. */
const request = z.object({
  scheduledTime: z.optional(z.string()),
  clusters: z.optional(z.unknown()),
  dryRun: z.optional(z.unknown()),
  shard: z.optional(z.object({ count: z.number() })),
  audit: z.optional(z.unknown()),
});

function ofFunction({ requestPayload, responsePayload }: DroppedEvent): LostRun | undefined {
  const asked = request.safeParse(requestPayload ?? {}).data ?? {};
  if (asked.audit !== undefined) return undefined;
  const { errorType, errorMessage } = responsePayload ?? {};
  const { share, isListRefused } = ofError(errorType, errorMessage ?? '');
  const isOfSchedule = asked.scheduledTime !== undefined && asked.clusters === undefined && asked.dryRun !== true;
  return { isOfSchedule, missingPercent: percentOf([share], asked.shard?.count ?? 1), isListRefused };
}

/** Nothing is missing of a run that collected the whole list in force. */
const nothing: MissingShare = { missing: 0, of: 1 };
const everything: MissingShare = { missing: 1, of: 1 };

function ofError(type: string | null | undefined, message: string): { share: MissingShare; isListRefused: boolean } {
  if (type === 'ClusterListError') return { share: nothing, isListRefused: true };
  if (type === 'NoClusterListError') return { share: everything, isListRefused: true };
  if (type !== 'RunIncompleteError') return { share: everything, isListRefused: false };
  const isListRefused = message.includes(`\n${refusedListText}`);
  return { share: parseMissingShare(message) ?? everything, isListRefused };
}

const indices = z.array(z.number());
const shares = z.array(z.string());

/** The beginning of what infra/fan-out.ts lets an execution say: shards by their indices, and the shares of those with a record. */
const ofShards =
  /^The shards (\[[^\]]*\]) of (\d+) did not succeed; without a record: (\[[^\]]*\]); the list refused: (\[[^\]]*\]); missing of the others: (\[[^\]]*\])\./;

function ofExecution({ detail: { input, error, cause } }: EndedExecution): LostRun {
  const asked = request.safeParse(json(input ?? '{}')).data ?? {};
  const isOfSchedule = asked.scheduledTime !== undefined && asked.clusters === undefined && asked.dryRun !== true;
  const [, all, count, ...lists] = (error === 'ShardsFailedError' && ofShards.exec(cause ?? '')) || [];
  const [unrecorded, refused] = lists.slice(0, 2).map((list) => indices.safeParse(json(list)).data);
  const told = shares.safeParse(json(lists[2] ?? '')).data?.map(parseMissingShare);
  const failed = indices.safeParse(json(all ?? '')).data;
  const isListRefused = (refused?.length ?? 0) > 0;
  const isWhole = failed?.length === (unrecorded?.length ?? 0) + (refused?.length ?? 0) + (told?.length ?? 0);
  if (!isWhole || told === undefined) return { isOfSchedule, missingPercent: 100, isListRefused };
  const lost = [...told.map((share) => share ?? everything), ...(unrecorded ?? []).map(() => everything)];
  return { isOfSchedule, missingPercent: percentOf(lost, Number(count)), isListRefused };
}

/** @param shards of the whole fleet, which are about equally large */
function percentOf(lost: readonly MissingShare[], shards: number): number {
  const sum = lost.reduce((total, { missing, of }) => total + missing / Math.max(1, of), 0);
  return Math.min(100, (100 * sum) / Math.max(1, shards));
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
