import { emptyState, type LogsState } from '../../../archive/format/seal-state';
import { LogSeams } from '../../../lambda/audit/log-seams';
import { seamLines } from '../../../lambda/audit/seam-summary';
import { ArchivedLogs } from './archived-logs';

const days = 30;
const hourMs = 3_600_000;
const firstHour = Date.UTC(2026, 10, 1);
const at = (hour: number) => new Date(firstHour + hour * hourMs);

/** Lines that the service keeps of a log. */
const kept = 20;

/** A cluster of the month. */
interface Story {
  /** Lines that are logged in an hour. */
  readonly pace: (hour: number) => number;
  /** The service sends only what is new. */
  readonly isNewOnly?: boolean;
}

const quiet: Story = { pace: (hour) => 3 + (hour % 5) };
/** More than the service keeps, in these hours. */
const lossy = (...hours: number[]): Story => ({ pace: (hour) => (hours.includes(hour) ? 45 : 6) });
const stories: Readonly<Record<string, Story>> = {
  ...Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`quiet-${n + 1}`, quiet])),
  'lossy-1': lossy(2 * 24 + 10),
  'lossy-2': lossy(2 * 24 + 10, 2 * 24 + 15, 11 * 24 + 3),
  'lossy-3': lossy(20 * 24 + 1),
  // Its fetcher is dead from the 5th to the 12th, and again from the 25th on.
  frozen: { pace: (hour) => ((hour >= 5 * 24 && hour < 12 * 24) || hour >= 25 * 24 ? 0 : 3) },
  'only-new': { pace: () => 3, isNewOnly: true },
};

/** What the mails of a month say of the logs, by the day of the month. */
async function mailsOfMonth(): Promise<Map<number, string>> {
  const archive = new ArchivedLogs();
  const written = new Map<string, number>();
  const mails = new Map<number, string>();
  let sealed: LogsState = emptyState.logs;
  for (let day = 0; day < days; day += 1) {
    // Only the last log of each is read again: the lifecycle may remove the others.
    for (const key of archive.bucket.keys('logs/')) if (!key.includes('T230000')) archive.bucket.objects.delete(key);
    const seams = new LogSeams(archive.bucket, sealed, 8);
    for (let hour = 24 * day; hour < 24 * (day + 1); hour += 1) {
      for (const [cluster, { pace, isNewOnly }] of Object.entries(stories)) {
        const from = written.get(cluster) ?? 0;
        const to = from + pace(hour);
        written.set(cluster, to);
        const first = isNewOnly ? from : Math.max(0, to - kept);
        const lines = Array.from({ length: to - first }, (_, n) => `line ${first + n} of ${cluster}, as it came\n`);
        await seams.check(archive.put(cluster, at(hour), lines.join('')));
      }
    }
    seams.judged();
    sealed = seams.summary.result(Object.keys(stories), true);
    const text = seamLines(sealed, 'archive').lines.join('\n');
    if (text !== '') mails.set(day + 1, text);
  }
  return mails;
}

describe('a month of hourly runs of 8 clusters', () => {
  it('tells each gap, the frozen log and the one that never shares a line once, and nothing on the other days', async () => {
    const mails = await mailsOfMonth();
    const seams = (cluster: string, from: number) =>
      `  npm run collector -- log ${cluster} --seams --from ${at(from).toISOString()} --to ${at(from + 1).toISOString()} --archive s3://archive`;
    expect(Object.fromEntries(mails)).toEqual({
      1: [
        'Logs that never share a line with the one before: 1 cluster, such as',
        '  only-new (23 runs in a row). Its service sends only what',
        '  is new, or the log moves on faster than runs come.',
        '  No later mail says this again.',
      ].join('\n'),
      3: [
        'Lines may be lost between runs, or logs were begun anew: 2 clusters,',
        '  such as lossy-1 (2026-11-03T09:00:00Z to 2026-11-03T10:00:00Z)',
        '  Collect more often than that, or ask the service to keep more lines.',
        seams('lossy-1', 2 * 24 + 9),
      ].join('\n'),
      6: '1 log has not changed for 24 hours, such as frozen;\n  is its fetcher alive?',
      12: [
        'Lines may be lost between runs, or logs were begun anew: 1 cluster,',
        '  such as lossy-2 (2026-11-12T02:00:00Z to 2026-11-12T03:00:00Z)',
        '  Collect more often than that, or ask the service to keep more lines.',
        seams('lossy-2', 11 * 24 + 2),
      ].join('\n'),
      21: [
        'Lines may be lost between runs, or logs were begun anew: 1 cluster,',
        '  such as lossy-3 (2026-11-21T00:00:00Z to 2026-11-21T01:00:00Z)',
        '  Collect more often than that, or ask the service to keep more lines.',
        seams('lossy-3', 20 * 24),
      ].join('\n'),
      26: '1 log has not changed for 24 hours, such as frozen;\n  is its fetcher alive?',
    });
  });
});
