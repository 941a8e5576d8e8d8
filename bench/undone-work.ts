import type { SinkStats } from './servers/object-sink';

/**
 * What a contender left out of the work, as the archive's side saw it; undefined if nothing. Who does less is not faster.
 * @param wanted number of objects
 */
export function undoneWork(
  { objects, conditional, checksummed, wrong }: SinkStats,
  wanted: number,
): string | undefined {
  if (objects === wanted && conditional === wanted && checksummed === wanted && wrong === 0) return undefined;
  return `stored ${objects} of ${wanted} objects, ${conditional} conditional, ${checksummed} with a checksum, ${wrong} with a wrong one`;
}
