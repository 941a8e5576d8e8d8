import type * as z from 'zod';
import { CronError, parseCron } from '../../lambda/schedule/cron';
import { largestTemporaryStorageMiB, storageMarginMiB } from '../limits';

/**
 * Rules between members. They run even if single members are wrong, so that all problems are reported at once. A member
 * of the wrong type counts as absent.
 */
type Context = z.core.$RefinementCtx;

/** Every uid once: two entries of one uid would write the same keys. */
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
  context.addIssue({
    code: 'custom',
    input: `${concurrency} x ${maxBodyMiB} MiB`,
    message: `concurrency x maxBodyMiB of at most ${most} MiB, the temporary storage of a function: lower ${lower
      .filter(([, value]) => value >= 1)
      .map(([text]) => text)
      .join(' or ')}`,
  });
}

/** Objects have to move before they expire, and cannot expire while they are locked. */
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
