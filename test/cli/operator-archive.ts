import { link, mkdir } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import { dirname, join } from 'node:path';
import { countOutcomes } from '../../archive/format/completeness';
import { firstResources } from '../../archive/format/resources';
import type { Outcome } from '../../archive/format/run-record';
import { rolePolicySchema } from '../../local/aws/iam/policy-document';
import { type LocalAws, startLocalAws } from '../../local/aws/local-aws';
import { listenLocally } from '../../local/listen-locally';
import { ArchiveFixture, keyOf, plainAnswer } from './archive-fixture';

/** How many runs it has: an operator's archive of ten days, a run every four hours. */
export const operatorRuns = 60;

export const everyFourHours = { expression: 'cron(0 0/4 * * ? *)', timeZone: 'Etc/UTC', enabled: true };

export const cluster = (at: number) => `c-${String(at).padStart(3, '0')}`;

export const runAt = (at: number) => new Date(Date.UTC(2025, 10, 10, 4 * at));

/** The run that never was. */
export const absentRun = runAt(30);

/** Never archived; archived in every second run; with objects, and archived in every run. */
export const [dead, flapping, healthy] = [cluster(3), cluster(7), cluster(1)];

/**
 * Builds it: the records of all runs but one, and the objects of one cluster; those of the others are links to them: they are
 * there, and no test reads them.
 * Another manifest of the first 100 clusters begins with run 45.
 */
export async function operatorArchive(clusters: number): Promise<ArchiveFixture> {
  const archive = await ArchiveFixture.create();
  const uids = Array.from({ length: clusters }, (_, at) => cluster(at));
  const stored = { clusters: uids.map((uid) => ({ uid })), schedule: everyFourHours };
  const configuration = await archive.putConfiguration(stored);
  for (let at = 0; at < operatorRuns; at += 1) {
    const run = runAt(at);
    if (run.getTime() === absentRun.getTime()) continue;
    const answer = at < 45 ? plainAnswer : upgraded;
    const own = await archive.attempt({ run, clusters: [healthy], answer, configuration: stored });
    const others = uids.filter((uid) => uid !== healthy).flatMap((uid) => outcomesOf(uid, at));
    const outcomes = [...own.outcomes, ...others];
    const counts = countOutcomes(outcomes);
    await archive.putRecord({ ...own, configuration, status: 'incomplete', counts, outcomes });
    for (const { resource, key } of others) {
      if (key === undefined) continue;
      await mkdir(join(archive.folder, dirname(key)), { recursive: true });
      await link(join(archive.folder, keyOf(resource, healthy, run)), join(archive.folder, key));
    }
  }
  return archive;
}

const upgraded: typeof plainAnswer = (uid, resource) =>
  resource === 'manifest' ? { content: `kind: Namespace # ${uid}, upgraded\n` } : plainAnswer(uid, resource);

function outcomesOf(uid: string, at: number): Outcome[] {
  const run = runAt(at);
  const isFailed = uid === dead || (uid === flapping && at % 2 === 0);
  return firstResources.map((resource) => {
    if (isFailed)
      return {
        cluster: uid,
        resource,
        outcome: 'failed',
        httpStatus: 503,
        error: `GET ${resource} of cluster ${uid} failed: 503 Service Unavailable`,
      };
    const isUpgraded = resource === 'manifest' && at >= 45 && Number(uid.slice(2)) < 100;
    return {
      cluster: uid,
      resource,
      outcome: 'archived',
      key: keyOf(resource, uid, run),
      bytes: 1000 + Number(uid.slice(2)),
      storedBytes: 300,
      sha256: (isUpgraded ? 'b' : 'a').repeat(64),
      fetchedAt: new Date(run.getTime() + 1500).toISOString(),
    };
  });
}

export interface ServedBucket {
  readonly location: string;
  /** What the clock of the bucket says from now on. */
  time: Date;
  close(): Promise<void>;
}

/** Gives the archive of a folder out as the bucket `operator-archive`, which this process reaches until it is closed. */
export async function asBucket(folder: string): Promise<ServedBucket> {
  const before = { ...process.env };
  const user = { accessKeyId: 'AKIAOPERATOR', secretAccessKey: 'operator-secret' };
  const policies = [rolePolicySchema.parse({ Statement: { Effect: 'Allow', Action: 's3:*', Resource: '*' } })];
  const aws: LocalAws = await startLocalAws({
    region: 'eu-central-1',
    principals: [{ ...user, arn: 'arn:aws:iam::123456789012:user/operator', policies }],
    buckets: [{ name: 'operator-archive', folder }],
    secrets: [],
  });
  const clock = createServer((request, response) => {
    const { method, url = '', headers } = request;
    const forwarded = httpRequest(new URL(url, aws.url), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, { ...answer.headers, date: bucket.time.toUTCString() });
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  const { url, close } = await listenLocally(clock);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: user.accessKeyId,
    AWS_SECRET_ACCESS_KEY: user.secretAccessKey,
  });
  const bucket: ServedBucket = {
    location: 's3://operator-archive',
    time: new Date(),
    close: async () => {
      process.env = before;
      await close();
      await aws.close();
    },
  };
  return bucket;
}
