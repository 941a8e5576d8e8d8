import type * as z from 'zod';
import { CronError, parseCron } from '../../lambda/schedule/cron';
import { longestGap } from '../../lambda/schedule/cron-gap';
import { largestTemporaryStorageMiB, mostShardsInTurn, storageMarginMiB } from '../limits';

/**
 * Rules between members. They run even if single members are wrong, so that all problems are reported at once. A member
 * of the wrong type counts as absent.
 */
type Context = z.core.$RefinementCtx;

/** @param expected completes the sentence "expected …" */
function report(context: Context, path: PropertyKey[], input: unknown, expected: string): void {
  context.addIssue({ code: 'custom', path, input, message: expected });
}

/**
 * Every entry of a list once.
 * @param what the part of an entry that tells it from others
 * @param partOf that part of an entry; undefined if it has none
 */
function checkUnique(what: string, partOf: (entry: unknown) => string | undefined) {
  return (list: unknown, context: Context): void => {
    if (!Array.isArray(list)) return;
    const first = new Map<string, number>();
    for (const [index, entry] of list.entries()) {
      const part = partOf(entry);
      const earlier = part === undefined ? undefined : first.get(part);
      if (earlier !== undefined) report(context, [index], part, `each ${what} once (it is at [${earlier}] already)`);
      else if (part !== undefined) first.set(part, index);
    }
  };
}

/** Two entries of one uid would write the same keys. */
export const checkUniqueClusters = checkUnique('uid', (cluster) => textOf(isObject(cluster) ? cluster.uid : cluster));

/** Two subscriptions of one address would deliver every message twice. */
export const checkUniqueEmails = checkUnique('address', (email) => textOf(email)?.toLowerCase());

/** The collector adds the version and the collection to the address. */
export function checkService(service: unknown, context: Context): void {
  const { baseUrl, collection = 'platformclusters' } = objectOf(service);
  if (typeof baseUrl !== 'string' || baseUrlProblem(baseUrl) !== undefined) return;
  const segments = normaliseBaseUrl(baseUrl).split('/');
  const rest = [...segments];
  if (rest.at(-1) === collection) rest.pop();
  if (/^v1$/i.test(rest.at(-1) ?? '')) rest.pop();
  if (rest.length === segments.length) return;
  const message = `the address without ${segments.slice(rest.length).join('/')}, which every request adds: ${JSON.stringify(rest.join('/'))}`;
  context.addIssue({ code: 'custom', path: ['baseUrl'], input: baseUrl, message });
}

/** All bodies under way at once have to fit into the function's temporary storage. */
export function checkLimits(limits: unknown, context: Context): void {
  const concurrency = numberOf(limits, 'concurrency');
  const maxBodyMiB = numberOf(limits, 'maxBodyMiB');
  const most = largestTemporaryStorageMiB - storageMarginMiB;
  if (concurrency === undefined || maxBodyMiB === undefined || concurrency * maxBodyMiB <= most) return;
  const lower = [
    [`concurrency to ${Math.floor(most / maxBodyMiB)}`, most / maxBodyMiB],
    [`maxBodyMiB to ${Math.floor(most / concurrency)}`, most / concurrency],
  ] as const;
  const advice = lower.flatMap(([text, value]) => (value >= 1 ? [text] : [])).join(' or ');
  const expected = `concurrency x maxBodyMiB of at most ${most} MiB, the temporary storage of a function: lower ${advice}`;
  report(context, [], `${concurrency} x ${maxBodyMiB} MiB`, expected);
}

/** Objects have to move before they expire, cannot expire while locked, and are copied with a key if they have one. */
export function checkArchive(archive: unknown, context: Context): void {
  const {
    infrequentAccessAfterDays: moves,
    retentionDays: expires,
    objectLock,
    replicateTo: copy,
    kms,
    formerKmsKeyArns,
  } = objectOf(archive);
  const { days: locked } = objectOf(objectLock);
  if (typeof expires === 'number' && typeof moves === 'number' && moves >= expires)
    report(context, ['retentionDays'], expires, `more days than infrequentAccessAfterDays (${moves})`);
  if (typeof expires === 'number' && typeof locked === 'number' && locked > expires)
    report(context, ['retentionDays'], expires, `at least objectLock.days (${locked})`);
  if (copy === undefined) return;
  const { kmsKeyArn } = objectOf(copy);
  // A former key counts: what it encrypts may still have to be copied.
  const hasKey = kms !== undefined || (Array.isArray(formerKmsKeyArns) && formerKmsKeyArns.length > 0);
  if (hasKey && kmsKeyArn === undefined)
    report(
      context,
      ['replicateTo', 'kmsKeyArn'],
      kmsKeyArn,
      'the key that encrypts the copies, because kms or formerKmsKeyArns is set',
    );
  // Without a key, S3 copies with its own encryption and takes none.
  if (!hasKey && kmsKeyArn !== undefined)
    report(context, ['replicateTo', 'kmsKeyArn'], kmsKeyArn, 'no key, because kms is not set');
}

/** A key encrypts an existing topic. The stack's own topic has a key of its own. */
export function checkRecipients(recipients: unknown, context: Context): void {
  if (!isObject(recipients) || recipients.kmsKeyArn === undefined || recipients.topicArn !== undefined) return;
  report(context, ['kmsKeyArn'], recipients.kmsKeyArn, 'no key, because topicArn is not set');
}

/** Either one list of recipients, or both groups. */
export function checkGroups(alerts: unknown, context: Context): void {
  const { page, inform, ...all } = objectOf(alerts);
  if (page === undefined && inform === undefined) return;
  if (page === undefined) report(context, ['page'], page, 'the group that is woken up, because inform is set');
  if (inform === undefined) report(context, ['inform'], inform, 'the group that gets the rest, because page is set');
  const outside = Object.entries(all).find(([, value]) =>
    Array.isArray(value) ? value.length > 0 : value !== undefined,
  );
  if (outside !== undefined)
    report(context, [outside[0]], outside[1], 'recipients inside page and inform, because these are set');
}

/** The history of an execution has to hold the tries of all shards. */
export function checkShards(config: unknown, context: Context): void {
  const { limits, shards } = objectOf(config);
  if (objectOf(limits).oneRunAtATime !== true || typeof shards !== 'number' || shards <= mostShardsInTurn) return;
  report(context, ['shards'], shards, `at most ${mostShardsInTurn}, because limits.oneRunAtATime is set`);
}

/** What has to be where the stack is, if the configuration says where that is. */
export function checkEnvironment(config: unknown, context: Context): void {
  const { deployTo, alerts, archive } = objectOf(config);
  const { account, region } = objectOf(deployTo);
  const isElsewhere = (arn: unknown, part: 3 | 4, expected: unknown) =>
    typeof arn === 'string' && typeof expected === 'string' && (arn.split(':')[part] ?? expected) !== expected;
  const { page, inform } = objectOf(alerts);
  for (const [path, recipients] of [
    [[], alerts],
    [['page'], page],
    [['inform'], inform],
  ] as const) {
    const { topicArn } = objectOf(recipients);
    if (isElsewhere(topicArn, 3, region) || isElsewhere(topicArn, 4, account))
      report(
        context,
        ['alerts', ...path, 'topicArn'],
        topicArn,
        `a topic in the account ${account} and the region ${region} of deployTo`,
      );
  }
  const { kms, replicateTo } = objectOf(archive);
  if (isElsewhere(kms, 3, region))
    report(context, ['archive', 'kms'], kms, `a key in the region ${region} of deployTo`);
  const { account: other } = objectOf(replicateTo);
  if (other !== undefined && other === account)
    report(context, ['archive', 'replicateTo', 'account'], other, "another account; left out, it is the stack's own");
}

/** A cluster is archived once per firing of the schedule: a shorter limit would call it stale between two runs. */
export function checkAudit(config: unknown, context: Context): void {
  const { audit, schedule } = objectOf(config);
  const { staleAfterHours } = objectOf(audit);
  const { expression, timeZone = 'Etc/UTC', enabled } = objectOf(schedule);
  if (typeof staleAfterHours !== 'number' || staleAfterHours < 1) return;
  if (typeof expression !== 'string' || typeof timeZone !== 'string') return;
  if (enabled === false || scheduleProblem(expression) !== undefined || !isTimeZone(timeZone)) return;
  const { hours } = longestGap(expression, timeZone);
  if (!Number.isFinite(hours) || staleAfterHours > hours) return;
  const expected = `more than the longest gap of schedule, ${Math.ceil(hours)} hours`;
  report(context, ['audit', 'staleAfterHours'], staleAfterHours, expected);
}

/** What is expected instead of a region of another partition than `aws`; undefined for all others. */
export function partitionProblem(region: string): string | undefined {
  return /^(cn|us-gov|us-iso[a-z]*|eu-iso[a-z]*|eusc)-/.test(region)
    ? 'a region of the partition aws: others were not looked at, see "Other partitions" in docs/operations.md'
    : undefined;
}

/** What is expected instead of a region; undefined if it is one of the partition `aws`. */
export function regionProblem(region: string): string | undefined {
  const problem = partitionProblem(region);
  if (problem !== undefined) return problem;
  if (!/^[a-z]{2}(-[a-z]+)+-\d+$/.test(region)) return 'the name of a region such as eu-central-1';
  return undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown, member: string): number | undefined {
  const found = objectOf(value)[member];
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function objectOf(value: unknown): Partial<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

const cronForm = 'cron(minutes hours day-of-month month day-of-week year)';

/** What is expected instead of a schedule's expression; undefined if it is valid. */
export function scheduleProblem(expression: string): string | undefined {
  if (/^\s*rate\(/i.test(expression)) return `${cronForm}: rate() fires at deployment, before the API key is set`;
  if (/^\s*at\(/i.test(expression)) return `${cronForm}: at() fires only once`;
  try {
    parseCron(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    return error.field === 'expression' ? error.expected : `${error.expected} as its ${error.field}`;
  }
}

/** What is expected instead of the service's address; undefined if it is valid. */
export function baseUrlProblem(text: string): string | undefined {
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return 'an absolute URL such as https://clusters.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    return 'https (http only towards loopback, because every request carries the API key)';
  // Read from the text, because the parser drops an empty query or fragment.
  if (url.username !== '' || url.password !== '' || text.includes('@')) return 'no credentials in the address';
  if (text.includes('?') || text.includes('#')) return 'an address without query or fragment';
  return undefined;
}

/** Whether an address is one that RFC 2606 reserves for examples. */
export function isExampleAddress(baseUrl: string): boolean {
  return /(^|\.)(example\.(com|net|org)|example|invalid)$/.test(new URL(baseUrl).hostname);
}

/** A valid address in one spelling: origin and path prefix without a trailing slash. */
export function normaliseBaseUrl(text: string): string {
  const url = new URL(text);
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** Whether a text is the exact name of an IANA time zone. Aliases such as Asia/Kolkata count. */
export function isTimeZone(text: string): boolean {
  if (text === 'UTC' || text === 'GMT') return true;
  // Unlike EventBridge Scheduler, Intl also accepts any case, abbreviations and, in newer versions, offsets.
  if (!/^[A-Z][A-Za-z]+\/[A-Z][A-Za-z0-9+_/-]*$/.test(text)) return false;
  const listed = Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase() === text.toLowerCase());
  if (listed !== undefined) return listed === text;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
