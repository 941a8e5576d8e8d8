import { createHash } from 'node:crypto';
import { runPrefix, sealStateKey, stampOf } from '../../../../lambda/archive/archive-layout';
import type { Finding, FindingKind } from '../../../../lambda/verify/finding';
import type { Period } from '../../../../lambda/verify/run-keys';
import { type Seal, sealSchema } from '../../../../lambda/verify/seals/seal';
import { type SealState, stateSchema } from '../../../../lambda/verify/seals/seal-state';
import { verifyArchive } from '../../../../lambda/verify/verify-archive';
import { seededRandom } from '../../../../local/demo-service/seeded-random';
import type { Damage } from './damages';
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
export async function falseAlarmsOf(seed: string, isAudited = false): Promise<string[]> {
  const { bucket, now, lost, surelyLost, unfinished, audits, events } = await randomHistory(seed, {
    expires: seed.endsWith('1') || seed.endsWith('2') || seed.endsWith('3'),
    mayBeUnderWay: true,
    isAudited,
  });
  // The reader's own clock is wrong; the archive's is right. A folder has none, and the machine's is right.
  const hasClock = !seed.endsWith('5');
  bucket.clock = hasClock ? now : undefined;
  const findings = await findingsOf(bucket, hasClock ? new Date(now.getTime() + 5 * hour) : now);
  const lostRuns = new Set(lost.map((run) => `${runPrefix(run)}*`));
  const unfinishedRuns = new Set(unfinished.map((run) => `${runPrefix(run)}*`));
  // Behind the last run that the schedule started, nobody can know that it was switched off since.
  const isBehind = (key: string) => key.slice('runs/date=2027-11-02/'.length) > stampOf(lastScheduled(bucket));
  const isFalse = (key: string, problem: string) =>
    !(problem.startsWith('the schedule was due') ? lostRuns.has(key) || isBehind(key) : unfinishedRuns.has(key));
  const wrong = findings.filter(({ kind, key, problem }) => {
    if (kind === 'pending') {
      const writtenAt = bucket.objects.get(key)?.writtenAt.getTime() ?? 0;
      return now.getTime() - writtenAt >= 4 * hour;
    }
    return kind !== 'absent' || isFalse(key, problem);
  });
  const sealed = sealsOf(bucket);
  const wrongInSeals = sealed.flatMap(({ seal, findings: found }) =>
    found.flatMap(({ kind, key, problem }) =>
      kind !== 'pending' && (kind !== 'absent' || isFalse(key, problem)) ? `${seal}: ${kind} ${key}: ${problem}` : [],
    ),
  );
  const unkept = audits.filter(({ sha256 }) => !sealed.some((one) => one.sha256 === sha256));
  const absent = findings
    .filter(({ problem }) => problem.startsWith('the schedule was due'))
    .map(({ problem }) => problem);
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

/** What a legal history leaves, and what verify finds in it late. */
export interface Undamaged {
  readonly bucket: MemoryBucket;
  readonly late: Date;
  readonly findings: ReadonlySet<string>;
}

export async function undamaged(seed: string): Promise<Undamaged> {
  const { bucket, now } = await randomHistory(seed, { expires: false, mayBeUnderWay: false });
  const late = new Date(now.getTime() + 3 * 24 * hour);
  return {
    bucket,
    late,
    findings: new Set((await findingsOf(bucket, late)).map((finding) => JSON.stringify(finding))),
  };
}

/**
 * Damages a copy of what a legal history left, in one way.
 * @returns undefined if there is nothing to damage so; otherwise what was done, and what verify found beside what it found before
 */
export async function findDamage(
  { bucket, late, findings }: Undamaged,
  seed: string,
  damage: Damage,
): Promise<{ readonly done: string; readonly found: readonly FindingKind[] } | undefined> {
  const copy = bucket.copy();
  const done = damage(copy, seededRandom(`${seed}/damage`));
  if (done === undefined) return undefined;
  const after = await findingsOf(copy, late);
  return { done, found: after.filter((finding) => !findings.has(JSON.stringify(finding))).map(({ kind }) => kind) };
}
