import { collectionOf } from '../../infra/collector';
import type { CollectorConfig } from '../../infra/config/config';
import { systemClock } from '../../lambda/clock';
import { leaversOf } from '../../lambda/list/next-list';
import { inArchive, largestListBytes, parseListAddress } from '../../lambda/list/read-list';
import type { DeployedCollector } from '../stack/find-stack';
import { changeText } from '../terminal/cluster-change';
import { formatCount, formatTime } from '../terminal/format';
import { ok, problem, type Shown } from './check';

const mend = 'see docs/alarms.md, "When the list of clusters is refused"';

/** Reads the list of clusters from outside as the function would, with these credentials, beside the list in force. */
export async function clusterListOf(
  { archiveBucket, region, functionName }: DeployedCollector,
  config: CollectorConfig,
): Promise<Shown> {
  const { clusterList: source } = collectionOf(config);
  if (source === undefined) return ok('it is deployed');
  const { bucket, key } = parseListAddress(source.from);
  if (bucket === archiveBucket) return problem(`${source.from}: ${inArchive}`, 'change clusters.from, and deploy');
  const { createS3Client } = await import('../../lambda/archive/aws-clients');
  const { S3Archive } = await import('../../lambda/archive/s3-archive');
  const { attemptList } = await import('../../lambda/run/cluster-list');
  const { PastLists, recordsIn } = await import('../../lambda/run/past-lists');
  const client = createS3Client(8, () => undefined, { region });
  const { signal } = new AbortController();
  const past = new PastLists(recordsIn(new S3Archive(client, archiveBucket, systemClock), signal));
  const open = () => new S3Archive(client, bucket, systemClock).open(key, largestListBytes, signal);
  const now = systemClock.now();
  const request = { run: undefined, completes: false };
  const next = await attemptList(request, source, { past, open, now }).catch((error: Error) => error);
  if (next instanceof Error) return problem(next.message, mend);
  const { read, clusters } = next;
  if (read?.problem !== undefined) return problem(`${source.from}: ${read.problem}`, mend);
  const before = (await past.newest(now))?.clusters ?? clusters;
  const known = new Set(before.map(({ uid }) => uid));
  const joined = clusters.map(({ uid }) => uid).filter((uid) => !known.has(uid));
  const change = read && changeText({ run: now, read, joined, left: leaversOf(before, clusters) });
  const written = read?.modifiedAt === undefined ? '' : `, written ${formatTime(new Date(read.modifiedAt))}`;
  const differs = change ? `; the next run changes the list in force: ${change}` : ', as the list in force';
  return ok(
    `${source.from}: ${formatCount(clusters.length, 'cluster')}${written}${differs}. It was read with these credentials: whether the role of ${functionName} may read it too, its next run says`,
  );
}
