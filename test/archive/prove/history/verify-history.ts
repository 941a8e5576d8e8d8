import { createHash } from 'node:crypto';
import type { Finding } from '../../../../archive/format/finding';
import { runPrefix, sealStateKey, stampOf } from '../../../../archive/format/keys';
import { type Seal, sealSchema } from '../../../../archive/format/seal';
import { type SealState, stateSchema } from '../../../../archive/format/seal-state';
import { verifyArchive } from '../../../../archive/prove/verify-archive';
import type { MemoryBucket } from './memory-bucket';
import { randomHistory } from './random-history';

async function findingsOf(bucket: MemoryBucket, now: Date): Promise<readonly Finding[]> {
  return (await verifyArchive(bucket, { now, concurrency: 4 })).findings;
}

const hour = 3_600_000;

/**
 * Plays a legal history and verifies what it leaves.
 * @returns what verify said that is not true, and what it did not say of what is surely lost
 */
export async function falseAlarmsOf(seed: string, isAudited = false): Promise<string[]> {
  const { bucket, now, lost, surelyLost, audits, events } = await randomHistory(seed, {
    expires: seed.endsWith('1') || seed.endsWith('2') || seed.endsWith('3'),
    isAudited,
  });
  // The reader's own clock is wrong; the archive's is right. A folder has none, and the machine's is right.
  const hasClock = !seed.endsWith('5');
  bucket.clock = hasClock ? now : undefined;
  const findings = await findingsOf(bucket, hasClock ? new Date(now.getTime() + 5 * hour) : now);
  const lostRuns = new Set(lost.map((run) => `${runPrefix(run)}*`));
  // Behind the last run that the schedule started, nobody can know that it was switched off since.
  const isBehind = (key: string) => key.slice('runs/date=2027-11-02/'.length) > stampOf(lastScheduled(bucket));
  const isFalse = (key: string) => !lostRuns.has(key) && !isBehind(key);
  const wrong = findings.filter(({ kind, key }) => {
    if (kind === 'pending') {
      const writtenAt = bucket.objects.get(key)?.writtenAt.getTime() ?? 0;
      return now.getTime() - writtenAt >= 4 * hour;
    }
    return kind !== 'absent' || isFalse(key);
  });
  const sealed = sealsOf(bucket);
  const wrongInSeals = sealed.flatMap(({ seal, findings: found }) =>
    found.flatMap(({ kind, key, problem }) =>
      kind !== 'pending' && (kind !== 'absent' || isFalse(key)) ? `${seal}: ${kind} ${key}: ${problem}` : [],
    ),
  );
  const unkept = audits.filter(({ sha256 }) => !sealed.some((one) => one.sha256 === sha256));
  const absent = findings.filter(({ kind }) => kind === 'absent').map(({ problem }) => problem);
  const instants = (at: Date) => [at, new Date(at.getTime() + hour)];
  const unsaid = surelyLost.filter((at) => !absent.some((problem) => instants(at).some((one) => covers(problem, one))));
  const said = [
    ...wrong.map(({ kind, key, problem }) => `${kind} ${key}: ${problem}`),
    ...unsaid.map((at) => `nothing is said of ${at.toISOString()}`),
    ...wrongInSeals,
    ...unkept.map(({ key }) => `${key} is not what the audit returned`),
  ];
  return said.length === 0 ? [] : [`seed ${seed}`, ...said, ...events];
}

/** The time of the last run that the schedule started. */
function lastScheduled(bucket: MemoryBucket): Date {
  const runs = bucket
    .keys('runs/')
    .map((key) => JSON.parse(String(bucket.objects.get(key)?.body).split('\n')[0] ?? ''));
  const times = runs.filter(({ trigger }) => trigger === 'schedule').map(({ run }) => Date.parse(run));
  return new Date(Math.max(0, ...times));
}

/** The seals that a bucket has, with their hashes. */
function sealsOf(bucket: MemoryBucket): (Pick<Seal, 'seal'> & SealState & { readonly sha256: string })[] {
  const bodyOf = (key: string) => String(bucket.objects.get(key)?.body);
  return bucket.keys('seals/0').map((key) => {
    const [line = ''] = bodyOf(key).split('\n');
    const { seal, state } = sealSchema.parse(JSON.parse(line));
    const parsed = stateSchema.parse(JSON.parse(bodyOf(sealStateKey(state))));
    return { ...parsed, seal, sha256: createHash('sha256').update(line).digest('hex') };
  });
}

function covers(problem: string, at: Date): boolean {
  const times = (problem.match(/\d{4}-[\dT:.-]+Z/g) ?? []).map((time) => new Date(time));
  const [first, last = first] = times;
  return first !== undefined && last !== undefined && first <= at && at <= last;
}
