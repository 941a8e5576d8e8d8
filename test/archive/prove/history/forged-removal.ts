import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Configuration, ConfiguredCluster } from '../../../../archive/format/configuration';
import { configurationKey, dateOf, parseRunRecordKey, runRecordKey } from '../../../../archive/format/keys';
import { compareAge } from '../../../../archive/format/newest-records';
import type { RunRecord } from '../../../../archive/format/run-record';
import { verifyArchive } from '../../../../archive/prove/verify-archive';
import { between, pick, seededRandom } from '../../../../local/demo-service/seeded-random';
import { emptyRunRecord, recordOf, recordText } from '../../../support/record-text';
import type { MemoryBucket } from './memory-bucket';

const [hour, day] = [3_600_000, 86_400_000];
const from = 's3://lists/c.json';

/** What a forged record says of the list, to hide whom it lacks. Without seals, that they were deployed is believed. */
const disguises = ['anew', 'newest', 'older', 'other', 'absent', 'itself', 'late', 'markers', 'times'] as const;

type Says = Partial<Pick<RunRecord, 'clusterList' | 'startedAt' | 'finishedAt'>>;

/** Lets somebody with the collector's rights remove clusters behind a history. @returns whom verify does not miss, in words */
export async function missedForgeries(history: MemoryBucket, now: Date, seed: string): Promise<string[]> {
  const random = seededRandom(`forged ${seed}`);
  const bucket = history.copy();
  const names = bucket.keys('runs/').flatMap((key) => parseRunRecordKey(key) ?? []);
  const [newest, ...olderOnes] = names.toSorted((a, b) => compareAge(b, a)).map((name) => runRecordKey(name));
  if (newest === undefined) return [];
  const record = recordOf(bucket.objects.get(newest)?.body ?? '');
  const { body = Buffer.alloc(0) } = bucket.objects.get(configurationKey(record.configuration)) ?? {};
  const configuration = JSON.parse(gunzipSync(body).toString()) as Configuration;
  const staying = configuration.clusters.filter(({ leaving }) => leaving === undefined);
  if (staying.length === 0) return [];
  const gone = new Set(staying.slice(0, between(random, 1, staying.length)).map(({ uid }) => uid));
  const left = configuration.clusters.filter(({ uid }) => !gone.has(uid));
  const forged: string[] = [];
  let at = now.getTime();

  /** Writes a record of these clusters, some hours later. @returns what a next one may say that it follows */
  const forge = (clusters: readonly ConfiguredCluster[], says: (run: Date, own: string) => Says) => {
    at += between(random, 5, 30) * hour;
    const run = new Date(at);
    const clusterList = { from, leaveAfterDays: 3, mostClusters: 10 };
    const { service, limits, schedule } = configuration;
    const text = JSON.stringify({ service, limits, schedule, clusters, clusterList });
    const own = createHash('sha256').update(text).digest('hex');
    const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
    bucket.put({ key: configurationKey(own), content: gzipSync(text), ...headers }, run);
    const made = { ...emptyRunRecord(run), configuration: own, ...says(run, own) };
    const key = runRecordKey({ run, attempt: 1 });
    const content = Buffer.from(recordText(made));
    bucket.put({ key, content, contentType: 'application/x-ndjson' }, run);
    forged.push(key);
    return { record: key, configuration: own };
  };
  const following = (follows: { record: string; configuration: string }) => ({
    clusterList: { from, isInForce: true, follows },
  });
  const known = { record: newest, configuration: record.configuration };
  const older = olderOnes.length > 0 ? pick(random, olderOnes as [string, ...string[]]) : newest;
  const disguise = pick(random, disguises);
  if (disguise === 'markers') {
    const since = new Date(now.getTime() - between(random, 1, 9) * day).toISOString();
    const leaving = { since, dates: between(random, 2, 9), last: dateOf(new Date(now.getTime() - day)) };
    const made = configuration.clusters.map((one) => (gone.has(one.uid) ? { ...one, leaving } : one));
    const follows = forge(made, () => following(known));
    forge(left, () => following(follows));
  } else
    forge(left, (run, own) => {
      const absent = runRecordKey({ run, attempt: 9 });
      const says: Record<typeof disguise, Says> = {
        anew: { clusterList: { from, isInForce: true } },
        newest: following(known),
        older: following({
          record: older,
          configuration: recordOf(bucket.objects.get(older)?.body ?? '').configuration,
        }),
        other: following({ ...known, configuration: own }),
        absent: following({ ...known, record: absent }),
        itself: following({ record: runRecordKey({ run, attempt: 1 }), configuration: own }),
        late: {},
        times: {
          ...following(known),
          startedAt: new Date(run.getTime() - between(random, 1, 9) * day).toISOString(),
          finishedAt: new Date(run.getTime() + between(random, 0, 2) * hour).toISOString(),
        },
      };
      return says[disguise];
    });
  const later = new Date(at + 10 * hour);
  bucket.clock = later;
  const { findings } = await verifyArchive(bucket, { now: later, concurrency: 4 });
  const isFound = findings.some(
    ({ key, problem = '' }) => /list|leaving|completes/.test(problem) && forged.includes(key),
  );
  // A record that is not there is what the one that is named lacks.
  const isMissed = findings.some(({ problem = '' }) => disguise === 'absent' && /list came after/.test(problem));
  return isFound || isMissed ? [] : [`${[...gone].join(', ')} removed as ${disguise}, and nobody finds it`];
}
