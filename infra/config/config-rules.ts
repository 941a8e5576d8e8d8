import * as z from 'zod';
import { unique } from '../../archive/format/cluster-schema';
import { largestTemporaryStorageMiB, mostShardsInTurn, storageMarginMiB } from '../limits';

/** A member of what a rule judges, whatever it is, by a path such as `deployTo.account` or `emails.0`. */
type At = (path: string) => unknown;

/** @param expected completes the sentence "expected …" */
type Refuse = (path: string, expected: string) => void;

/**
 * A rule between members. It runs even if single members are wrong, so that all problems are reported at once. A member
 * of the wrong type counts as absent.
 */
function rule(check: (at: At, refuse: Refuse) => void) {
  const judge = (value: unknown, context: z.core.$RefinementCtx) => {
    const at: At = (path) =>
      path.split('.').reduce<unknown>((part, name) => (isObject(part) ? part[name] : undefined), value);
    check(at, (path, message) => context.addIssue({ code: 'custom', path: path.split('.'), input: at(path), message }));
  };
  return z.superRefine<unknown>(judge, { when: () => true });
}

/** Two subscriptions of one address would deliver every message twice. */
export const uniqueEmails = unique('address', (email) => (typeof email === 'string' ? email.toLowerCase() : undefined));

/** Every request adds the version and the collection: with them in the address too, every cluster would answer 404. */
export const addressWithoutPath = rule((at, refuse) => {
  const [baseUrl, collection] = [at('baseUrl'), at('collection') ?? 'platformclusters'];
  if (typeof baseUrl !== 'string' || typeof collection !== 'string') return;
  const address = baseUrl.replace(/\/+$/, '');
  const added = [`/v1/${collection}`, '/v1'].find((end) => address.toLowerCase().endsWith(end.toLowerCase()));
  if (added === undefined) return;
  const without = JSON.stringify(address.slice(0, -added.length));
  refuse('baseUrl', `${without}: every request adds ${added} itself`);
});

/** All bodies under way at once have to fit into the function's temporary storage. */
export const bodiesFit = rule((at, refuse) => {
  const concurrency = numberOf(at('concurrency'));
  const shared = largestTemporaryStorageMiB - storageMarginMiB;
  const most = Math.floor(shared / concurrency);
  const expected = `at most ${most}: concurrency (${concurrency}) such bodies share the function's temporary storage`;
  if (concurrency * numberOf(at('maxBodyMiB')) > shared) refuse('maxBodyMiB', expected);
});

/** Objects cannot expire while they are locked, and are copied with a key if they have one. */
export const archiveFits = rule((at, refuse) => {
  const expires = numberOf(at('retentionDays'));
  const locked = numberOf(at('objectLock.days'));
  if (locked > expires) refuse('retentionDays', `at least objectLock.days (${locked})`);
  if (at('replicateTo') === undefined) return;
  const keyOfCopies = 'replicateTo.kmsKeyArn';
  // A former key counts: what it encrypts may still have to be copied.
  const hasKey = at('kms') !== undefined || at('formerKmsKeyArns.0') !== undefined;
  if (hasKey && at(keyOfCopies) === undefined)
    refuse(keyOfCopies, 'the key that encrypts the copies, because kms or formerKmsKeyArns is set');
  // Without a key, S3 copies with its own encryption and takes none.
  if (!hasKey && at(keyOfCopies) !== undefined) refuse(keyOfCopies, 'no key, because kms is not set');
});

/** A key encrypts an existing topic, in its region. The stack's own topic has a key of its own. */
export const keyOfTopic = rule((at, refuse) => {
  if (at('kmsKeyArn') === undefined) return;
  const [ofKey, ofTopic] = [regionOf(at('kmsKeyArn')), regionOf(at('topicArn'))];
  if (at('topicArn') === undefined) refuse('kmsKeyArn', 'no key, because topicArn is not set');
  else if (ofKey !== undefined && ofTopic !== undefined && ofKey !== ofTopic)
    refuse('kmsKeyArn', `a key in the region ${ofTopic} of topicArn`);
});

/** Otherwise the entry would excuse nothing, without a word. */
export const erasedInOrder = rule((at, refuse) => {
  const [from, to] = [at('from'), at('to')];
  if (typeof from !== 'string' || typeof to !== 'string') return;
  // A day means all of it.
  const end = to.length === 10 ? `${to}T23:59:59.999Z` : to;
  if (Date.parse(from) > Date.parse(end)) refuse('to', 'a time that is not before from');
});

/** The history of an execution has to hold the tries of all shards. */
export const shardsFit = rule((at, refuse) => {
  if (at('limits.oneRunAtATime') === true && numberOf(at('shards')) > mostShardsInTurn)
    refuse('shards', `at most ${mostShardsInTurn}, because limits.oneRunAtATime is set`);
});

/** What has to be where the stack is, if the configuration says where that is. */
export const whereStackIs = rule((at, refuse) => {
  const [account, region] = [at('deployTo.account'), at('deployTo.region')];
  const isElsewhere = (path: string, part: 3 | 4, expected: unknown) => {
    const arn = at(path);
    return typeof arn === 'string' && typeof expected === 'string' && (arn.split(':')[part] ?? expected) !== expected;
  };
  for (const path of ['alerts.page.topicArn', 'alerts.inform.topicArn'])
    if (isElsewhere(path, 3, region) || isElsewhere(path, 4, account))
      refuse(path, `a topic in the account ${account} and the region ${region} of deployTo`);
  for (const path of ['archive.kms', 'audit.signingKeyArn', 'apiKeySecret.kmsKeyArn'])
    if (isElsewhere(path, 3, region)) refuse(path, `a key in the region ${region} of deployTo`);
});

/** Nothing is overwritten in an archive, nor in its copy. The name of the archive's own bucket is not known yet. */
export const listBesideArchive = rule((at, refuse) => {
  const [from, copy] = [at('clusters.from'), at('archive.replicateTo.bucketArn')];
  if (typeof from === 'string' && typeof copy === 'string' && from.startsWith(`s3://${copy.split(':').at(-1)}/`))
    refuse('clusters.from', 'an object in another bucket: nothing is ever overwritten in the copy of the archive');
});

/** Of an ARN; undefined if it is not one. */
function regionOf(arn: unknown): string | undefined {
  return typeof arn === 'string' ? arn.split(':')[3] : undefined;
}

/** NaN if it is not a number, so that no comparison holds. */
function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : Number.NaN;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
