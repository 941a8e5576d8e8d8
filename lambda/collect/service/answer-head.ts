import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { type Resource, resources } from '../../../archive/format/resources';
import { codingOf } from '../body/content-coding';
import { ServiceError, type ServiceFailure } from './service-error';

/** What an operator does about a status. */
const advice: Readonly<Record<number, string>> = {
  401: 'set a valid API key',
  403: 'set an API key that may read this cluster, or check its projectUid',
  404: 'remove the cluster from the configuration if it is gone, or check service.collection and projectUid',
  429: 'lower limits.requestsPerSecond or limits.concurrency',
};

/**
 * Whether the body of a good answer comes in gzip.
 * @throws ServiceError with the bare reason, if the head alone shows that the answer is not usable
 */
export function isGzipped(
  { statusCode: status = 0, headers }: IncomingMessage,
  resource: Resource,
  acceptsCoding: boolean,
): boolean {
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
  return contentCoding === 'gzip';
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
