import * as z from 'zod/mini';
import { parseRunEnd, type RunEnd } from '../run-end-text';
import { type DroppedEvent, droppedEvent, type EndedExecution, endedExecution } from './event';

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
  requestId: z.optional(z.unknown()),
  dryRun: z.optional(z.unknown()),
  shard: z.optional(z.object({ count: z.number() })),
  audit: z.optional(z.unknown()),
  heartbeat: z.optional(z.unknown()),
});

function ofFunction({ requestPayload, responsePayload }: DroppedEvent): LostRun | undefined {
  const asked = request.safeParse(requestPayload ?? {}).data ?? {};
  if (asked.audit !== undefined) return undefined;
  const end = endOf(responsePayload?.errorType, responsePayload?.errorMessage ?? '');
  return {
    isOfSchedule: isOfSchedule(asked),
    missingPercent: percentOf([end], asked.shard?.count ?? 1),
    isListRefused: end.isListRefused,
  };
}

/** As the collector has it (lambda/collect/event.ts): the schedule asks for whole runs, and for nothing more. */
function isOfSchedule({ scheduledTime, clusters, requestId, dryRun, heartbeat }: z.output<typeof request>): boolean {
  const asksForMore = [clusters, requestId, heartbeat].some((member) => member !== undefined) || dryRun === true;
  return scheduledTime !== undefined && !asksForMore;
}

const everything: RunEnd = { missing: 1, of: 1, isListRefused: false };

function endOf(type: string | null | undefined, message: string): RunEnd {
  // The whole list in force was collected.
  if (type === 'ClusterListError') return { missing: 0, of: 1, isListRefused: true };
  if (type === 'NoClusterListError') return { ...everything, isListRefused: true };
  return (type === 'RunIncompleteError' ? parseRunEnd(message) : undefined) ?? everything;
}

const indices = z.array(z.number());
const texts = z.array(z.string());

/** The beginning of what infra/fan-out.ts lets an execution say: shards by their indices, and the ends of those with a record. */
const ofShards =
  /^The shards (\[[^\]]*\]) of (\d+) did not succeed; without a record: (\[[^\]]*\]); the list refused: (\[[^\]]*\]); missing of the others: (\[[^\]]*\])\./;

function ofExecution({ detail: { input, error, cause } }: EndedExecution): LostRun {
  const asked = request.safeParse(json(input ?? '{}')).data ?? {};
  const [, all, count, unrecorded, refused, others] =
    (error === 'ShardsFailedError' && ofShards.exec(cause ?? '')) || [];
  const listed = (text = '') => indices.safeParse(json(text)).data ?? [];
  const told = (texts.safeParse(json(others ?? '')).data ?? []).map((text) => parseRunEnd(text) ?? everything);
  const lost = [...told, ...listed(unrecorded).map(() => everything)];
  // A shard that had no list at all is in both.
  const named = new Set([...listed(unrecorded), ...listed(refused)]).size + told.length;
  const isKnown = all !== undefined && named === listed(all).length;
  return {
    isOfSchedule: isOfSchedule(asked),
    missingPercent: isKnown ? percentOf(lost, Number(count)) : 100,
    isListRefused: listed(refused).length > 0 || told.some(({ isListRefused }) => isListRefused),
  };
}

/** @param shards of the whole fleet, which are about equally large */
function percentOf(lost: readonly RunEnd[], shards: number): number {
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
