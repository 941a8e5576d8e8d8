import type * as z from 'zod';
import { largestTemporaryStorageMiB, storageMarginMiB } from '../limits';

/**
 * Rules between members. They run even where a member of its own is wrong, so that all problems are told at once:
 * a member counts as absent unless it has the right type.
 */
type Context = z.core.$RefinementCtx;

/** Every uid once: a second one would archive under the first one's keys. */
export function checkUniqueClusters(clusters: unknown, context: Context): void {
  if (!Array.isArray(clusters)) return;
  const first = new Map<string, number>();
  for (const [index, cluster] of clusters.entries()) {
    const uid = uidOf(cluster);
    const earlier = uid === undefined ? undefined : first.get(uid);
    if (earlier !== undefined)
      context.addIssue({
        code: 'custom',
        path: [index],
        input: uid,
        message: `each uid once (it is clusters[${earlier}])`,
      });
    else if (uid !== undefined) first.set(uid, index);
  }
}

/** All bodies under way at once must fit the function's temporary storage. */
export function checkLimits(limits: unknown, context: Context): void {
  const concurrency = numberOf(limits, 'concurrency');
  const maxBodyMiB = numberOf(limits, 'maxBodyMiB');
  const most = largestTemporaryStorageMiB - storageMarginMiB;
  if (concurrency === undefined || maxBodyMiB === undefined || concurrency * maxBodyMiB <= most) return;
  const lower = [
    [`concurrency to ${Math.floor(most / maxBodyMiB)}`, most / maxBodyMiB],
    [`maxBodyMiB to ${Math.floor(most / concurrency)}`, most / concurrency],
  ] as const;
  context.addIssue({
    code: 'custom',
    input: `${concurrency} x ${maxBodyMiB} MiB`,
    message: `concurrency x maxBodyMiB within the ${most} MiB a function can spill to: lower ${lower
      .filter(([, value]) => value >= 1)
      .map(([text]) => text)
      .join(' or ')}`,
  });
}

/** Objects move before they expire, and expire only when nothing locks them any more. */
export function checkArchive(archive: unknown, context: Context): void {
  const moves = numberOf(archive, 'infrequentAccessAfterDays');
  const expires = numberOf(archive, 'retentionDays');
  const locked = numberOf(archive, 'objectLockDays');
  if (expires === undefined) return;
  if (moves !== undefined && moves >= expires)
    context.addIssue({
      code: 'custom',
      path: ['retentionDays'],
      input: expires,
      message: `more days than infrequentAccessAfterDays (${moves})`,
    });
  if (locked !== undefined && locked > expires)
    context.addIssue({
      code: 'custom',
      path: ['retentionDays'],
      input: expires,
      message: `at least objectLockDays (${locked})`,
    });
}

function uidOf(cluster: unknown): string | undefined {
  const uid = isObject(cluster) ? cluster.uid : cluster;
  return typeof uid === 'string' ? uid : undefined;
}

function numberOf(value: unknown, member: string): number | undefined {
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
