import { createHash } from 'node:crypto';
import type { Shard } from './archive-layout';

/** Whether a cluster belongs to a shard: by a hash of its uid, so that adding clusters moves none of the others. */
export function isInShard(uid: string, { index, count }: Shard): boolean {
  return createHash('sha256').update(uid).digest().readUInt32BE(0) % count === index;
}
