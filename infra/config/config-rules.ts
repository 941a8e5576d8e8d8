import type * as z from 'zod';
import { CronError, parseCron } from '../../lambda/schedule/cron';
import { largestTemporaryStorageMiB, storageMarginMiB } from '../limits';

/**
 * Rules between members. They run even where a member of its own is wrong, so that all problems are told at once:
 * a member counts as absent unless it has the right type.
 */
type Context = z.core.$RefinementCtx;

/** Every uid once: a second one would archive under the first one's keys. */
export function checkUniqueClusters(clusters: unknown, context: Context): void {
  if (!Array.isArray(clusters)) return;
  const first = new Map<string, number>();
  for (const [index, cluster] of clusters.entries()) {
    const uid = uidOf(cluster);
    const earlier = uid === undefined ? undefined : first.get(uid);
    if (earlier !== undefined)
      context.addIssue({
        code: 'custom',
        path: [index],
        input: uid,
        message: `each uid once (it is clusters[${earlier}])`,
      });
    else if (uid !== undefined) first.set(uid, index);
  }
}

/** All bodies under way at once must fit the function's temporary storage. */
export function checkLimits(limits: unknown, context: Context): void {
  const concurrency = numberOf(limits, 'concurrency');
  const maxBodyMiB = numberOf(limits, 'maxBodyMiB');
  const most = largestTemporaryStorageMiB - storageMarginMiB;
  if (concurrency === undefined || maxBodyMiB === undefined || concurrency * maxBodyMiB <= most) return;
  const lower = [
    [`concurrency to ${Math.floor(most / maxBodyMiB)}`, most / maxBodyMiB],
    [`maxBodyMiB to ${Math.floor(most / concurrency)}`, most / concurrency],
  ] as const;
  context.addIssue({
    code: 'custom',
    input: `${concurrency} x ${maxBodyMiB} MiB`,
    message: `concurrency x maxBodyMiB within the ${most} MiB a function can spill to: lower ${lower
      .filter(([, value]) => value >= 1)
      .map(([text]) => text)
      .join(' or ')}`,
  });
}

/** Objects move before they expire, and expire only when nothing locks them any more. */
export function checkArchive(archive: unknown, context: Context): void {
  const moves = numberOf(archive, 'infrequentAccessAfterDays');
  const expires = numberOf(archive, 'retentionDays');
  const locked = numberOf(archive, 'objectLockDays');
  if (expires === undefined) return;
  if (moves !== undefined && moves >= expires)
    context.addIssue({
      code: 'custom',
      path: ['retentionDays'],
      input: expires,
      message: `more days than infrequentAccessAfterDays (${moves})`,
    });
  if (locked !== undefined && locked > expires)
    context.addIssue({
      code: 'custom',
      path: ['retentionDays'],
      input: expires,
      message: `at least objectLockDays (${locked})`,
    });
}

function uidOf(cluster: unknown): string | undefined {
  const uid = isObject(cluster) ? cluster.uid : cluster;
  return typeof uid === 'string' ? uid : undefined;
}

function numberOf(value: unknown, member: string): number | undefined {
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const form = 'cron(minutes hours day-of-month month day-of-week year)';

/** What is wrong with a schedule's expression, as what was expected instead; undefined if nothing is. */
export function scheduleProblem(expression: string): string | undefined {
  if (/^\s*rate\(/i.test(expression)) return `${form}: rate() fires at deployment, before the API key is set`;
  if (/^\s*at\(/i.test(expression)) return `${form}: at() fires only once`;
  try {
    parseCron(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    return error.field === 'expression' ? error.expected : `${error.expected} as its ${error.field}`;
  }
}

/** What is wrong with the service's address, as what was expected instead; undefined if nothing is. */
export function baseUrlProblem(text: string): string | undefined {
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return 'an absolute URL such as https://clusters.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    return 'https (plain http only towards loopback, because every request carries the key)';
  // The parser drops an empty query or fragment, hence the text.
  if (url.username !== '' || url.password !== '' || text.includes('@')) return 'no credentials in the address';
  if (text.includes('?') || text.includes('#')) return 'an address without query or fragment';
  return undefined;
}

/** A valid address in one spelling: origin and path prefix without a trailing slash. */
export function normaliseBaseUrl(text: string): string {
  const url = new URL(text);
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** Whether a text is the name of an IANA time zone, aliases such as Asia/Kolkata included, in its exact spelling. */
export function isTimeZone(text: string): boolean {
  if (text === 'UTC' || text === 'GMT') return true;
  // Intl also takes any case, abbreviations and, in newer versions, offsets; EventBridge Scheduler does not.
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
