import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resource } from '../../../lambda/resources';
import { type Answer, ArchiveFixture, type AttemptFixture, hour, logRecord } from '../archive-fixture';
import { asBucket } from '../operator-archive';
import { runCollector } from '../run-collector';

export const hostile = `</script><script>window.owned = true</script><img src=x onerror="window.owned = true"><!--<script>`;

/** What each run meets, by cluster; everything else is archived. */
function answer(at: number, cluster: string, resource: Resource): Answer {
  if (cluster.startsWith('</script') && at === 11 && resource === 'manifest')
    return { content: `cluster: ${cluster}\nreplicas: 2\n`, doubt: `odd: ${hostile}` };
  if (cluster.startsWith('down') && at > 9) return { failed: `GET failed: ${hostile}` };
  if (cluster === 'flapping' && at % 2 === 1) return { failed: 'GET failed: 503 Busy' };
  if (cluster === 'waiting' && at === 11) return { notAttempted: 'stopped before the deadline' };
  if (resource === 'log') return { content: logRecord(cluster, hostile), state: hostile };
  return { content: `cluster: ${cluster}\nreplicas: ${cluster === 'changing' && at > 9 ? 3 : 2}\n` };
}

/** Writes a report of runs at hours of one day, and returns the page's file. @param isBucket it is read as a bucket, in which runs are due up to now */
export async function writeReport(
  clusters: readonly string[],
  hours: readonly number[],
  args: readonly string[] = [],
  { now = '2026-11-20T12:00:00Z', isBucket = false } = {},
): Promise<string> {
  const archive = await ArchiveFixture.create();
  for (const at of hours) {
    const attempt: AttemptFixture = { run: hour(at), clusters, answer: (c, r) => answer(at, c, r) };
    await archive.attempt(at === 10 ? { ...attempt, startedAt: hour(12) } : attempt);
  }
  const file = join(await mkdtemp(join(tmpdir(), 'collector-report-')), 'report.html');
  const bucket = isBucket ? await asBucket(archive.folder) : undefined;
  const location = bucket?.location ?? archive.folder;
  const { code, err } = await runCollector(['report', '--archive', location, '--out', file, ...args], {
    now: new Date(now),
  });
  await bucket?.close();
  expect([code, err]).toEqual([0, expect.stringContaining('run')]);
  return file;
}
