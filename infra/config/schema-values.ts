import * as z from 'zod';
import { knownMembers, objectWith } from '../../archive/format/cluster-schema';
import { CronError, parseCron } from '../../archive/format/schedule/cron';

/**
 * Values that occur in several members of the configuration. Every message completes the sentence "expected …". Every
 * description goes into collector.schema.json, where editors show it.
 */

/** An object that rejects unknown members with a message that names the known ones. */
export function members<Shape extends z.core.$ZodShape>(shape: Shape, expected = objectWith(shape)) {
  return z.strictObject(shape, knownMembers(shape, expected));
}

/** @param rule returns what it expects instead, for a text that it refuses */
function textBy(rule: (text: string) => string | undefined, expected: string) {
  const error = ({ input }: { readonly input?: unknown }) => rule(String(input));
  return z.string(expected).refine((text) => rule(text) === undefined, { error });
}

export function wholeNumber(least: number, most: number) {
  const expected = `a whole number from ${least} to ${most}`;
  return z.int(expected).min(least, expected).max(most, expected);
}

export function trueOrFalse() {
  return z.boolean('true or false');
}

/** Text of a form. */
export function textLike(pattern: RegExp, expected: string) {
  return z.string(expected).regex(pattern, expected);
}

export const accountId = textLike(/^\d{12}$/, 'the id of an account: 12 digits');

export const keyArn = textLike(
  /^arn:aws:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/,
  'the ARN of a KMS key, arn:aws:kms:<region>:<account>:key/<id>',
);

export const roleArn = textLike(
  /^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
  'the ARN of a role, arn:aws:iam::<account>:role/<name>',
);

export const topicArn = textLike(
  /^arn:aws:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/,
  'the ARN of a standard SNS topic, arn:aws:sns:<region>:<account>:<name>',
);

export const bucketArn = textLike(
  /^arn:aws:s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  'the ARN of a bucket, arn:aws:s3:::<name>',
);

/** What is expected instead of a region of another partition than `aws`; undefined for all others. */
export function partitionProblem(region: string): string | undefined {
  return /^(cn|us-gov|us-iso[a-z]*|eu-iso[a-z]*|eusc)-/.test(region)
    ? 'a region of the partition aws: others were not looked at, see "Other partitions" in docs/background.md'
    : undefined;
}

/** What is expected instead of a region; undefined if it is one of the partition `aws`. */
function regionProblem(region: string): string | undefined {
  const isRegion = /^[a-z]{2}(-[a-z]+)+-\d+$/.test(region);
  return partitionProblem(region) ?? (isRegion ? undefined : 'the name of a region such as eu-central-1');
}

export const region = textBy(regionProblem, 'the name of a region');

const cronForm = 'cron(minutes hours day-of-month month day-of-week year)';

/** What is expected instead of a schedule's expression; undefined if it is valid. */
function scheduleProblem(expression: string): string | undefined {
  if (/^\s*rate\(/i.test(expression)) return `${cronForm}: rate() fires at deployment, before the API key is set`;
  if (/^\s*at\(/i.test(expression)) return `${cronForm}: at() fires only once`;
  try {
    parseCron(expression, new Date());
    return undefined;
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    return error.field === 'expression' ? error.expected : `${error.expected} as its ${error.field}`;
  }
}

export const cronExpression = textBy(scheduleProblem, 'a cron expression');

/** What is expected instead of the service's address; undefined if it is valid. */
function baseUrlProblem(text: string): string | undefined {
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return 'an absolute URL such as https://clusters.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    return 'https (http only towards loopback, because every request carries the API key)';
  // Read from the text, because the parser drops an empty query or fragment.
  if (url.username !== '' || url.password !== '' || text.includes('@')) return 'no credentials in the address';
  if (text.includes('?') || text.includes('#')) return 'an address without query or fragment';
  return undefined;
}

export const baseUrl = textBy(baseUrlProblem, 'the https address of the service').transform(normaliseBaseUrl);

/** Whether an address is one that RFC 2606 reserves for examples. */
export function isExampleAddress(baseUrl: string): boolean {
  return /(^|\.)(example\.(com|net|org)|example|invalid)$/.test(new URL(baseUrl).hostname);
}

/** Whether an address is one of the machine that asks: no function in AWS reaches it. */
export function isOwnMachine(baseUrl: string): boolean {
  return isLoopback(new URL(baseUrl).hostname);
}

/** A valid address in one spelling: origin and path prefix without a trailing slash. */
function normaliseBaseUrl(text: string): string {
  const url = new URL(text);
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** Whether a text is the exact name of an IANA time zone. Aliases such as Asia/Kolkata count. */
function isTimeZone(text: string): boolean {
  if (text === 'UTC' || text === 'GMT') return true;
  // Unlike EventBridge Scheduler, Intl also accepts any case, abbreviations and, in newer versions, offsets.
  if (!/^[A-Z][A-Za-z]+\/[A-Z][A-Za-z0-9+_/-]*$/.test(text)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    // Of an alias it is another name; of a name in another case the right one.
    return timeZone === text || timeZone.toLowerCase() !== text.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const timeZone = z
  .string('an IANA time zone')
  .refine(isTimeZone, 'an IANA time zone such as Etc/UTC or Europe/Berlin');
