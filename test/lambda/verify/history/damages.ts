import { parseObjectKey, parseRunRecordKey, runRecordKey } from '../../../../lambda/archive/archive-layout';
import { countOutcomes, isComplete, type Outcome, type RunRecord } from '../../../../lambda/run/run-record';
import { clockSlackMs } from '../../../../lambda/verify/time-limits';
import { pick, type Random } from '../../../../local/demo-service/seeded-random';
import { recordOf, recordText } from '../../../support/record-text';
import type { MemoryBucket } from './memory-bucket';

/**
 * One way to damage an archive whose effect depends on its history: on retries, shards and the schedule. Returns what it did;
 * undefined if this archive has nothing to do it to.
 */
export type Damage = (bucket: MemoryBucket, random: Random) => string | undefined;

const isRecord = (key: string) => parseRunRecordKey(key) !== undefined;
const keys = (bucket: MemoryBucket, wanted: (key: string) => boolean) => bucket.keys('').filter(wanted);

function choose<Item>(random: Random, items: readonly Item[]): Item | undefined {
  const [first, ...others] = items;
  return first === undefined ? undefined : pick(random, [first, ...others]);
}

function readRecord(bucket: MemoryBucket, key: string): RunRecord {
  return recordOf(bucket.objects.get(key)?.body ?? '');
}

/** Writes a record with other outcomes, which adds up. */
function alterRecord(
  bucket: MemoryBucket,
  key: string,
  outcomes: readonly Outcome[],
  changes: Partial<RunRecord> = {},
) {
  const counts = countOutcomes(outcomes);
  const status = isComplete(counts) ? 'complete' : 'incomplete';
  const record = { ...readRecord(bucket, key), counts, status, ...changes, outcomes } as const;
  bucket.rewrite(key, { body: Buffer.from(recordText(record)) });
}

interface Said {
  readonly key: string;
  readonly record: RunRecord;
  readonly outcome: Outcome;
}

/** What records say, one outcome at a time. */
function said(bucket: MemoryBucket, wanted: (said: Said) => boolean): Said[] {
  return keys(bucket, isRecord).flatMap((key) => {
    const record = readRecord(bucket, key);
    return record.outcomes.map((outcome) => ({ key, record, outcome })).filter(wanted);
  });
}

/** Whether only one record says anything of what an outcome is about. */
function isSaidOnce(bucket: MemoryBucket, { outcome: { cluster, resource }, record: { run } }: Said): boolean {
  const same = said(bucket, (other) => {
    return other.outcome.cluster === cluster && other.outcome.resource === resource && other.record.run === run;
  });
  return same.length === 1;
}

const onOutcome =
  (
    what: string,
    wanted: (bucket: MemoryBucket, said: Said) => boolean,
    alter: (outcome: Outcome) => Outcome | undefined,
  ): Damage =>
  (bucket, random) => {
    const chosen = choose(
      random,
      said(bucket, (one) => wanted(bucket, one)),
    );
    if (chosen === undefined) return undefined;
    const outcomes = chosen.record.outcomes.flatMap((one) => (one === chosen.outcome ? (alter(one) ?? []) : one));
    alterRecord(bucket, chosen.key, outcomes);
    return `${what}: ${chosen.outcome.resource} of ${chosen.outcome.cluster} in ${chosen.key}`;
  };

const isArchived = ({ outcome }: Said) => outcome.outcome === 'archived';
const asFailed = ({ cluster, resource, optional }: Outcome): Outcome => ({
  cluster,
  resource,
  outcome: 'failed',
  error: '503',
  ...(optional && { optional }),
});

/** Everything of a run: its objects and its records. */
function keysOfRun(bucket: MemoryBucket, run: Date): string[] {
  const time = run.getTime();
  return keys(bucket, (key) => (parseObjectKey(key) ?? parseRunRecordKey(key))?.run.getTime() === time);
}

export const damages: Readonly<Record<string, Damage>> = {
  'a record with archived turned into failed': onOutcome(
    'turned archived into failed',
    // Another attempt at the same time may have found the object; see what cannot be seen.
    (bucket, one) => isArchived(one) && isSaidOnce(bucket, one),
    asFailed,
  ),
  'a record with failed turned into archived': onOutcome(
    'turned failed into archived',
    (_, { outcome }) => outcome.outcome === 'failed',
    ({ error, ...outcome }) => ({ ...outcome, outcome: 'already-archived', key: 'x' }),
  ),
  'a record without an archived outcome': onOutcome(
    'dropped',
    (bucket, one) => isArchived(one) && isSaidOnce(bucket, one),
    () => undefined,
  ),
  'a record of the schedule without a failed outcome': onOutcome(
    'dropped',
    (_, { outcome, record }) => outcome.outcome === 'failed' && record.trigger === 'schedule',
    () => undefined,
  ),
  'a record that calls what failed optional': onOutcome(
    'called optional',
    (_, { outcome }) => outcome.outcome === 'failed' && outcome.optional !== true,
    (outcome) => ({ ...outcome, optional: true }),
  ),
  'a record that calls itself complete': (bucket, random) => {
    const chosen = choose(
      random,
      keys(bucket, isRecord).filter((key) => readRecord(bucket, key).status === 'incomplete'),
    );
    if (chosen === undefined) return undefined;
    alterRecord(bucket, chosen, readRecord(bucket, chosen).outcomes, { status: 'complete' });
    return `completed ${chosen}`;
  },
  'a record deleted that alone knows an object': (bucket, random) => {
    const chosen = choose(
      random,
      said(bucket, (one) => isArchived(one) && isSaidOnce(bucket, one)),
    );
    if (chosen === undefined) return undefined;
    bucket.objects.delete(chosen.key);
    return `deleted ${chosen.key}`;
  },
  'a record deleted before another of its run': (bucket, random) => {
    const all = keys(bucket, isRecord);
    const chosen = choose(
      random,
      all.filter((key) => {
        const name = parseRunRecordKey(key);
        return name !== undefined && all.includes(runRecordKey({ ...name, attempt: name.attempt + 1 }));
      }),
    );
    if (chosen === undefined) return undefined;
    bucket.objects.delete(chosen);
    return `deleted ${chosen}`;
  },
  'a run removed between two of the same schedule': (bucket, random) => {
    const records = keys(bucket, isRecord).map((key) => readRecord(bucket, key));
    const times = [...new Set(records.map(({ run }) => Date.parse(run)))].sort((a, b) => a - b);
    const isFiring = (time: number) => {
      const ofRun = records.filter(({ run }) => Date.parse(run) === time);
      return time % 3_600_000 === 0 && ofRun.every(({ trigger }) => trigger === 'schedule');
    };
    const chosen = choose(
      random,
      times.slice(1, -1).filter((_, at) => {
        const around = times.slice(at, at + 3);
        const [before = 0, after = 0] = [around.at(0), around.at(-1)];
        // Clocks may be wrong: an attempt of another run may have been between the two as well.
        const between = records.filter(({ run, startedAt }) => {
          const started = Date.parse(startedAt);
          const isNear = started >= before - clockSlackMs && started <= after + clockSlackMs;
          return isNear || around.includes(Date.parse(run));
        });
        return around.every(isFiring) && new Set(between.map(({ configuration }) => configuration)).size === 1;
      }),
    );
    if (chosen === undefined) return undefined;
    for (const key of keysOfRun(bucket, new Date(chosen))) bucket.objects.delete(key);
    return `removed the run of ${new Date(chosen).toISOString()}`;
  },
};
