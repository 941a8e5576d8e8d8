import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { objectKey, parseObjectKey, parseRunRecordKey, runRecordKey } from '../../../../lambda/archive/archive-layout';
import { jsonLinesType } from '../../../../lambda/archive/archive-object';
import { countOutcomes, isComplete, type Outcome, type RunRecord } from '../../../../lambda/run/run-record';
import { clockSlackMs } from '../../../../lambda/verify/time-limits';
import { pick, type Random } from '../../../../local/demo-service/seeded-random';
import { recordOf, recordText } from '../../../support/record-text';
import type { MemoryBucket } from './memory-bucket';

/** One way to damage an archive. Returns what it did; undefined if this archive has nothing to do it to. */
export type Damage = (bucket: MemoryBucket, random: Random) => string | undefined;

const isObject = (key: string) => parseObjectKey(key) !== undefined;
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

const onObject =
  (what: string, damage: (bucket: MemoryBucket, key: string, random: Random) => void): Damage =>
  (bucket, random) => {
    const key = choose(random, keys(bucket, isObject));
    if (key === undefined) return undefined;
    damage(bucket, key, random);
    return `${what} ${key}`;
  };

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

function flipBit(body: Buffer, random: Random): Buffer {
  const flipped = Buffer.from(body);
  const at = Math.floor(random() * body.length);
  flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at);
  return flipped;
}

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
  'an object with a bit flipped': onObject('flipped a bit of', (bucket, key, random) => {
    bucket.corrupt(key, (body) => flipBit(body, random));
  }),
  'an object cut short': onObject('cut', (bucket, key) => {
    bucket.corrupt(key, (body) => body.subarray(0, -3));
  }),
  'an object deleted': onObject('deleted', (bucket, key) => bucket.objects.delete(key)),
  'an object with another content type': onObject('changed the type of', (bucket, key) => {
    bucket.rewrite(key, { contentType: 'text/html' });
  }),
  'an object with another content encoding': onObject('changed the encoding of', (bucket, key) => {
    bucket.rewrite(key, { contentEncoding: undefined });
  }),
  'an object without metadata': onObject('removed the metadata of', (bucket, key) =>
    bucket.rewrite(key, { metadata: {} }),
  ),
  'an object with that of another cluster': (bucket, random) => {
    const key = choose(random, keys(bucket, isObject));
    const own = key === undefined ? undefined : parseObjectKey(key);
    const other = choose(
      random,
      keys(bucket, isObject).filter((one) => parseObjectKey(one)?.cluster !== own?.cluster),
    );
    if (key === undefined || other === undefined) return undefined;
    bucket.rewrite(key, bucket.objects.get(other) ?? {});
    return `replaced ${key} by ${other}`;
  },
  'an object replaced by another that agrees with itself': (bucket, random) => {
    const chosen = choose(random, said(bucket, isArchived));
    const { key = '' } = chosen?.outcome ?? {};
    const object = bucket.objects.get(key);
    if (object === undefined) return undefined;
    const content = Buffer.concat([gunzipSync(object.body), Buffer.from('forged')]);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const metadata = { ...object.metadata, sha256, length: String(content.length) };
    bucket.rewrite(key, { body: gzipSync(content), metadata });
    return `forged ${key}`;
  },
  'an object planted': (bucket, random) => {
    const key = choose(random, keys(bucket, isObject));
    const name = key === undefined ? undefined : parseObjectKey(key);
    const object = key === undefined ? undefined : bucket.objects.get(key);
    if (name === undefined || object === undefined) return undefined;
    const planted = objectKey({ ...name, cluster: 'planted' });
    bucket.objects.set(planted, object);
    return `planted ${planted}`;
  },
  'a key of no archive': (bucket, random) => {
    const key = pick(random, [
      'logs/x',
      'manifests/cluster=a/x.txt',
      'runs/x.json',
      'configurations/x',
      'backup/x',
      'x',
    ]);
    bucket.put({ key, content: Buffer.from('x'), contentType: 'text/plain' }, new Date(0));
    return `planted ${key}`;
  },
  'a record with a bit flipped': (bucket, random) => {
    const key = choose(random, keys(bucket, isRecord));
    const body = key === undefined ? undefined : bucket.objects.get(key)?.body;
    if (key === undefined || body === undefined) return undefined;
    // Somewhere in the hashes, counts and names; a bit of a duration changes nothing that anybody could know.
    const before = '\n{"cluster":"';
    const at = body.indexOf(before) + before.length;
    if (at < before.length) return undefined;
    const flipped = Buffer.from(body);
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
    bucket.rewrite(key, { body: flipped });
    return `flipped a bit of ${key}`;
  },
  'a record that is none': (bucket, random) => {
    const key = choose(random, keys(bucket, isRecord));
    if (key === undefined) return undefined;
    bucket.rewrite(key, { body: Buffer.from('{}') });
    return `emptied ${key}`;
  },
  'a record with another hash': onOutcome(
    'changed a hash',
    (_, one) => one.outcome.sha256 !== undefined,
    (outcome) => ({ ...outcome, sha256: 'e'.repeat(64) }),
  ),
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
  'a configuration with a bit flipped': (bucket, random) => {
    const key = choose(random, bucket.keys('configurations/'));
    if (key === undefined) return undefined;
    bucket.corrupt(key, (body) => flipBit(body, random));
    return `flipped a bit of ${key}`;
  },
  'a configuration deleted that a record names': (bucket, random) => {
    const record = choose(random, keys(bucket, isRecord));
    if (record === undefined) return undefined;
    const key = `configurations/${readRecord(bucket, record).configuration}.json.gz`;
    bucket.objects.delete(key);
    return `deleted ${key}`;
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
  'a run copied into the future': (bucket, random) => {
    const key = choose(random, keys(bucket, isRecord));
    const name = key === undefined ? undefined : parseRunRecordKey(key);
    if (key === undefined || name === undefined) return undefined;
    const run = new Date('2199-01-01T00:00:00Z');
    const record = { ...readRecord(bucket, key), run: run.toISOString(), outcomes: [], counts: countOutcomes([]) };
    const body = Buffer.from(recordText({ ...record, status: 'complete', trigger: 'manual', shard: undefined }));
    bucket.put(
      { key: runRecordKey({ run, attempt: name.attempt }), content: body, contentType: jsonLinesType },
      new Date(0),
    );
    return `copied ${key} into the future`;
  },
};
