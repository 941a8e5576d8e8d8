import { createHash } from 'node:crypto';

/** One part of a fleet that is too large for one invocation; `index` counts from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** `0 of 4`; empty for what covers all shards. */
export function shardName(shard: Shard | undefined): string {
  return shard === undefined ? '' : `${shard.index} of ${shard.count}`;
}

/** The shard a cluster belongs to, from 0: a hash of its uid, so that adding clusters moves none of the others. */
export function shardOf(uid: string, count: number): number {
  return createHash('sha256').update(uid).digest().readUInt32BE(0) % count;
}

/** @param shard undefined: the run is not divided */
export function isInShard(uid: string, shard: Shard | undefined): boolean {
  return shard === undefined || shardOf(uid, shard.count) === shard.index;
}
