import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { type Resource, resources } from '../../../archive/format/resources';
import { codingOf } from '../body/content-coding';
import { doubts } from '../body/doubts';
import { ServiceError, type ServiceFailure } from './service-error';

/** What an operator does about a status. */
const advice: Readonly<Record<number, string>> = {
  401: 'set a valid API key in its secret (docs/operations.md, "The API key"), or in COLLECTOR_API_KEY for npm start',
  403: 'set an API key that may read this cluster, or check its projectUid',
  404: 'if all clusters answer so, check service.baseUrl (without /v1) and service.collection; if this one alone, check its projectUid, or remove it from the configuration',
  429: 'lower limits.requestsPerSecond or limits.concurrency',
};

/** Oldest answer that is taken without a doubt, in seconds, as caches on the way say it. */
const oldestSeconds = 60;

/** What the head of a good answer says of its body. */
export interface AnswerHead {
  readonly isGzipped: boolean;
  /** Whether the Content-Encoding names aws-chunked. */
  readonly isAwsChunked: boolean;
  /** Why the answer is doubted, in words. */
  readonly doubts: readonly string[];
}

/**
 * Reads the head of an answer.
 * @throws ServiceError with the bare reason, if the head alone shows that the answer is not usable
 */
export function readAnswerHead(
  { statusCode: status = 0, headers }: IncomingMessage,
  resource: Resource,
  acceptsCoding: boolean,
): AnswerHead {
  if (status !== 200) {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], new Date());
    throw new ServiceError(statusReason(status), 'status', { status, retryAfterMs });
  }
  const refuse = (reason: string, failure: ServiceFailure = 'unusable') =>
    new ServiceError(`200 OK, but ${reason}`, failure, { status });
  const coding = headers['transfer-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== 'chunked' && coding !== 'identity')
    throw refuse(`its Transfer-Encoding "${coding}" is not "chunked", the only one that was asked for`);
  // Otherwise the end of the connection ends the body, whatever ended the connection.
  const isDelimited = coding === 'chunked' || (coding === undefined && 'content-length' in headers);
  if (!isDelimited && !resources[resource].showsItsEnd)
    throw refuse(
      'it declares no end of its body (neither Content-Length nor chunked): a body that is cut short would look whole',
    );
  const encoding = headers['content-encoding'];
  const contentCoding = codingOf(encoding);
  if (contentCoding === undefined)
    throw refuse(
      `its Content-Encoding "${encoding}" is not "gzip", the only one that was asked for`,
      acceptsCoding ? 'coding' : 'unusable',
    );
  const { isGzipped, ignored } = contentCoding;
  const old = ageOf(headers);
  return {
    isGzipped,
    isAwsChunked: ignored.includes('aws-chunked'),
    doubts: [
      ...(old === undefined ? [] : [doubts.old(old)]),
      ...(ignored.length === 0 ? [] : [doubts.ignoredCoding(ignored.join(', '))]),
    ],
  };
}

/** How a cache says that an answer is old: with its age, or with the warning that it is stale, or that it could not be renewed. */
function ageOf({ age = '', warning = '' }: IncomingMessage['headers']): string | undefined {
  const seconds = Number(/^\s*(\d{1,10})\b/.exec(age)?.[1] ?? 0);
  const [, code] = /(?:^|,)\s*(11[01])\b/.exec(warning) ?? [];
  const said = [seconds > oldestSeconds ? `Age: ${seconds} s` : undefined, code && `Warning: ${code}`];
  return said.filter((one) => one !== undefined).join(', ') || undefined;
}

/** What a status other than 200 means, and what to do about it. */
function statusReason(status: number): string {
  const known = STATUS_CODES[status] ?? 'an unknown status';
  if (status >= 300 && status < 400) return `${status} ${known}; redirects are not followed, check service.baseUrl`;
  return [`${status} ${known}`, advice[status]].filter((part) => part !== undefined).join('; ');
}

/**
 * The delay a Retry-After header asks for, in milliseconds: whole seconds or an HTTP date (RFC 9110, 10.2.3). Anything
 * else is as if it were absent.
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,15}\s*$/.test(value)) return Number(value) * 1000;
  // Date.parse alone would take "-1" or "2" for a year.
  if (!/^\s*[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now.getTime());
}
