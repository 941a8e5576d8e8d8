import { DamagedObjectError } from '../../archive/format/damaged-object-error';
import { sealKey } from '../../archive/format/keys';
import { changeOf } from '../../archive/format/list-in-force';
import { parsePublicKey } from '../../archive/format/seal-file';
import { openDamage, readHead } from '../../archive/prove';
import { type ArchiveReader, readWhole } from '../../archive/read';
import type { CollectorConfig } from '../../infra/config/config';
import { configurationOf } from '../../infra/configuration-of';
import { systemClock } from '../../lambda/clock';
import { inArchive, largestListBytes, parseListAddress } from '../../lambda/collect/run/read-list';
import { NoClusterListError } from '../../lambda/collect/run/run-errors';
import { describeNewest, newestRuns } from '../archive/newest-runs';
import { withTime } from '../archive/open-archive';
import { RunReader } from '../archive/run-reader';
import { stackArguments, withAws } from '../stack/aws-access';
import type { DeployedCollector } from '../stack/find-stack';
import { changeText } from '../terminal/cluster-change';
import { formatCount, formatTime } from '../terminal/format';
import type { Terminal } from '../terminal/terminal';
import { notSeen, right, type Shown, worthKnowing, wrong } from './check';
import { openAsMyself } from './own-credentials';

/** What lies in the archive: its newest run, its newest seal, and the list of clusters in force beside the one from outside. */

/** The newest runs, and what is overdue. */
export async function newestRun(collector: DeployedCollector, terminal: Pick<Terminal, 'now'>): Promise<Shown> {
  const { region, name } = collector;
  const runNow = `npm run collector -- run ${stackArguments({ name, region })}`;
  const reader = new RunReader(await withTime(await openAsMyself(collector.archiveBucket, region), terminal));
  const newest = await newestRuns(reader);
  const last = newest.at(-1)?.run;
  if (last === undefined) return worthKnowing('none yet', `start one: ${runNow}`);
  const unread = newest.flatMap(({ run }) => run.badRecords).find(({ kind }) => kind === 'unreadable');
  if (unread !== undefined)
    return notSeen(`${unread.key}: ${unread.problem}`, `use credentials that may read s3://${collector.archiveBucket}`);
  const found = newest.map((one) => describeNewest(one, reader.now)).join('; ');
  const { overdue, unknown } = await reader.overdue();
  if (overdue !== undefined)
    return wrong(
      `${found}; ${overdue.text}`,
      `see docs/alarms.md, "Run missing"; then: ${runNow} --run ${formatTime(overdue.run)} --without-record`,
    );
  if (last.status !== 'complete') return wrong(found, `complete it: ${runNow} --run ${formatTime(last.run)}`);
  if (unknown === undefined) return right(found);
  return notSeen(`${found}; nobody can say what is overdue: ${unknown}`, 'look at the schedule of the stack');
}

/** What the newest seal says, by the stack's signing key and those that it replaced. */
export async function sealsOf(
  { archiveBucket, region }: { readonly archiveBucket: string; readonly region: string },
  signingKeyArn: string,
  formerPublicKeys: readonly string[] = [],
): Promise<Shown> {
  const { KMSClient, GetPublicKeyCommand } = await import('@aws-sdk/client-kms');
  const { PublicKey = [] } = await withAws(`Reading the public key of ${signingKeyArn}`, () =>
    new KMSClient({ region }).send(new GetPublicKeyCommand({ KeyId: signingKeyArn })),
  );
  const own = Buffer.from(PublicKey).toString('base64');
  return sealsIn(await openAsMyself(archiveBucket, region), [...formerPublicKeys, own]);
}

/** @param keys that may have signed the seals, as base64 */
export async function sealsIn(reader: ArchiveReader, keys: readonly string[]): Promise<Shown> {
  const refused = new Map<string, string>();
  const publicKeys = keys.flatMap((key) => parsePublicKey(key) ?? []);
  const { passedOver, head, state } = await readHead(reader, { publicKeys }, (_, key, why) => refused.set(key, why));
  for (const { number, why } of passedOver.values()) refused.set(sealKey(number), why);
  const act = 'see docs/alarms.md, "Audit found damage"';
  for (const [key, why] of refused) return wrong(`${refused.size} not right, such as ${key}: ${why}`, act);
  if (head === undefined) return worthKnowing('none yet', 'the audit makes the first');
  const { count, since } = openDamage({ ...head, ...state });
  const which = `seal ${head.number} of ${formatTime(head.seal)}`;
  if (since !== undefined) return wrong(`damage open since ${formatTime(since)}: ${count}, says ${which}`, act);
  return right(`${which} is right, and nothing is damaged by it`);
}

const mend = 'see docs/alarms.md, "List refused"';

/**
 * Reads the list of clusters from outside as the function would, with these credentials, beside the list in force.
 * @throws ArchiveReadError if one of the two cannot be read with these credentials: the function may be able to
 */
export async function clusterListOf(
  { archiveBucket, region, functionName }: DeployedCollector,
  config: CollectorConfig,
): Promise<Shown> {
  const { clusterList: source } = configurationOf(config);
  if (source === undefined) return right('it is deployed');
  const { bucket, key } = parseListAddress(source.from);
  if (bucket === archiveBucket) return wrong(`${source.from}: ${inArchive}`, 'change clusters.from, and deploy');
  const { attemptList } = await import('../../lambda/collect/run/cluster-list');
  const { PastLists } = await import('../../lambda/collect/run/past-lists');
  const past = new PastLists(await openAsMyself(archiveBucket, region));
  const object = readWhole(await openAsMyself(bucket, region), key, largestListBytes);
  await object.catch((error: unknown) => {
    if (!(error instanceof DamagedObjectError)) throw error;
  });
  const now = systemClock.now();
  const request = { completes: false };
  const next = await attemptList(request, source, { past, read: () => object, now }).catch((error: unknown) => {
    if (error instanceof NoClusterListError) return error;
    throw error;
  });
  if (next instanceof NoClusterListError) return wrong(next.message, mend);
  const { read: list, clusters } = next;
  if (list?.problem !== undefined) return wrong(`${source.from}: ${list.problem}`, mend);
  const before = (await past.newest(now)).list?.clusters ?? clusters;
  const change = list && changeText({ run: now, read: list, ...changeOf(before, clusters) });
  const written = list?.modifiedAt === undefined ? '' : `, written ${formatTime(new Date(list.modifiedAt))}`;
  const differs = change ? `; the next run changes the list in force: ${change}` : ', as the list in force';
  return right(
    `${source.from}: ${formatCount(clusters.length, 'cluster')}${written}${differs}. It was read with these credentials: whether the role of ${functionName} may read it too, its next run says`,
  );
}
