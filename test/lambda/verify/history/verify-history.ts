import { runPrefix } from '../../../../lambda/archive/archive-layout';
import type { Finding } from '../../../../lambda/verify/finding';
import type { Period } from '../../../../lambda/verify/run-keys';
import { verifyArchive } from '../../../../lambda/verify/verify-archive';
import type { MemoryBucket } from './memory-bucket';
import { randomHistory } from './random-history';

export async function findingsOf(bucket: MemoryBucket, now: Date, period: Period = {}): Promise<Finding[]> {
  const findings: Finding[] = [];
  const onFinding = (finding: Finding) => findings.push(finding);
  await verifyArchive(bucket, { ...period, now, concurrency: 4, onFinding, onProgress: () => undefined });
  return findings;
}

const hour = 3_600_000;

/**
 * Plays a legal history and verifies what it leaves.
 * @returns what verify said that is not true, and what it did not say of what is surely lost
 */
export async function falseAlarmsOf(seed: string): Promise<string[]> {
  const { bucket, now, lost, surelyLost, unfinished, events } = await randomHistory(seed, {
    expires: seed.endsWith('1') || seed.endsWith('2') || seed.endsWith('3'),
    mayBeUnderWay: true,
  });
  // The reader's own clock is wrong; the archive's is right. A folder has none, and the machine's is right.
  const hasClock = !seed.endsWith('5');
  bucket.clock = hasClock ? now : undefined;
  const findings = await findingsOf(bucket, hasClock ? new Date(now.getTime() + 5 * hour) : now);
  const lostRuns = new Set(lost.map((run) => `${runPrefix(run)}*`));
  const unfinishedRuns = new Set(unfinished.map((run) => `${runPrefix(run)}*`));
  const wrong = findings.filter(({ kind, key, problem }) => {
    if (kind === 'pending') {
      const writtenAt = bucket.objects.get(key)?.writtenAt.getTime() ?? 0;
      return now.getTime() - writtenAt >= 4 * hour;
    }
    if (kind !== 'absent') return true;
    return !(problem.startsWith('the schedule was due') ? lostRuns.has(key) : unfinishedRuns.has(key));
  });
  const absent = findings
    .filter(({ problem }) => problem.startsWith('the schedule was due'))
    .map(({ problem }) => problem);
  const unsaid = surelyLost.filter((at) => !absent.some((problem) => covers(problem, at)));
  const said = [
    ...wrong.map(({ kind, key, problem }) => `${kind} ${key}: ${problem}`),
    ...unsaid.map((at) => `nothing is said of ${at.toISOString()}`),
  ];
  return said.length === 0 ? [] : [`seed ${seed}`, ...said, ...events];
}

function covers(problem: string, at: Date): boolean {
  const times = (problem.match(/\d{4}-[\dT:.-]+Z/g) ?? []).map((time) => new Date(time));
  const [first, last = first] = times;
  return first !== undefined && last !== undefined && first <= at && at <= last;
}
