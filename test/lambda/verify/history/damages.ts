import { parseRunRecordKey } from '../../../../lambda/archive/archive-layout';
import { countOutcomes, isComplete } from '../../../../lambda/run/completeness';
import type { Outcome, RunRecord } from '../../../../lambda/run/run-record';
import { pick, type Random } from '../../../../local/demo-service/seeded-random';
import { recordOf, recordText } from '../../../support/record-text';
import type { MemoryBucket } from './memory-bucket';

/** One way to damage an archive. Returns what it did; undefined if this archive has nothing to do it to. */
export type Damage = (bucket: MemoryBucket, random: Random) => string | undefined;

interface Said {
  readonly key: string;
  readonly record: RunRecord;
  readonly outcome: Outcome;
}

/** What was archived by the one record that says anything of it: of what retries left, nothing else shows the damage. */
function saidOnce(bucket: MemoryBucket): Said[] {
  const said = bucket.keys('').flatMap((key): Said[] => {
    if (parseRunRecordKey(key) === undefined) return [];
    const record = recordOf(bucket.objects.get(key)?.body ?? '');
    return record.outcomes.map((outcome) => ({ key, record, outcome }));
  });
  const nameOf = ({ record: { run }, outcome: { cluster, resource } }: Said) => `${run} ${resource} ${cluster}`;
  const times = new Map<string, number>();
  for (const one of said) times.set(nameOf(one), (times.get(nameOf(one)) ?? 0) + 1);
  return said.filter((one) => one.outcome.outcome === 'archived' && times.get(nameOf(one)) === 1);
}

const onSaidOnce =
  (damage: (bucket: MemoryBucket, said: Said) => void): Damage =>
  (bucket, random) => {
    const [first, ...others] = saidOnce(bucket);
    if (first === undefined) return undefined;
    const chosen = pick(random, [first, ...others]);
    damage(bucket, chosen);
    return `${chosen.outcome.resource} of ${chosen.outcome.cluster} in ${chosen.key}`;
  };

/** Writes a record with another outcome, or none, which adds up. */
const onOutcome = (alter: (outcome: Outcome) => Outcome[]): Damage =>
  onSaidOnce((bucket, { key, record, outcome }) => {
    const outcomes = record.outcomes.flatMap((one) => (one === outcome ? alter(one) : one));
    const counts = countOutcomes(outcomes);
    const status = isComplete(counts) ? 'complete' : 'incomplete';
    bucket.rewrite(key, { body: Buffer.from(recordText({ ...record, counts, status, outcomes })) });
  });

export const damages: Readonly<Record<string, Damage>> = {
  'a record with archived turned into failed': onOutcome(({ cluster, resource, optional }) => [
    { cluster, resource, outcome: 'failed', error: '503', ...(optional && { optional }) },
  ]),
  'a record without an archived outcome': onOutcome(() => []),
  'a record deleted that alone knows an object': onSaidOnce((bucket, { key }) => {
    bucket.objects.delete(key);
  }),
};
