import { createHash } from 'node:crypto';
import type { Shard } from '../archive/archive-layout';

/** The shard a cluster belongs to, from 0: a hash of its uid, so that adding clusters moves none of the others. */
export function shardOf(uid: string, count: number): number {
  return createHash('sha256').update(uid).digest().readUInt32BE(0) % count;
}

export function isInShard(uid: string, { index, count }: Shard): boolean {
  return shardOf(uid, count) === index;
}
