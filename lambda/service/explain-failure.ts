import { STATUS_CODES } from 'node:http';
import { isNativeError } from 'node:util/types';
import { BodyTooLargeError, InvalidBodyError } from '../body/body-check';
import { CodingError } from '../body/content-coding';
import { SpoolError } from '../body/spool';
import { hideKey } from './hide-key';
import type { RequestWatch } from './request-watch';
import { ServiceError, type ServiceErrorDetails, type ServiceFailure } from './service-error';

const certificateCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;

/** What an operator does about a status. */
const advice: Readonly<Record<number, string>> = {
  401: 'set a valid API key',
  403: 'set an API key that may read this cluster, or check its projectUid',
  404: 'remove the cluster from the configuration if it is gone, or check service.collection and projectUid',
  429: 'lower limits.requestsPerSecond or limits.concurrency',
};

/**
 * The error that names the call and the reason for its failure. Only what the service has chosen can hold the key, and
 * only there it is hidden.
 * @param call as part of a sentence
 */
export function explainFailure(error: unknown, call: string, key: string, watch: RequestWatch): unknown {
  const failed = (reason: string, failure: ServiceFailure, details: ServiceErrorDetails) =>
    new ServiceError(`${call} failed: ${reason}`, failure, details);
  if (error instanceof ServiceError) return failed(error.message, error.failure, error);
  if (error instanceof SpoolError) return error;
  if (watch.expired !== undefined) return failed(watch.expired, 'timeout', { cause: error });
  if (error instanceof BodyTooLargeError) {
    const reason = `its body has ${error.message}; raise limits.maxBodyMiB if that is right`;
    return failed(reason, 'too-large', { status: 200 });
  }
  if (error instanceof CodingError) return failed(`its body ${error.message}`, 'coding', { status: 200, cause: error });
  // Only the cause's own cause: its message may quote the key.
  if (error instanceof InvalidBodyError)
    return new InvalidBodyError(`${call} answered 200 OK, but ${refusal(error, key)}`, { cause: error.cause });
  if (!hasCode(error)) return error;
  const { code } = error;
  if (certificateCodes.test(code)) {
    const reason = `the service's certificate is not trusted (${code}); nothing was sent`;
    return failed(reason, 'certificate', { cause: error });
  }
  if (watch.answered)
    return failed(`its body was cut short or damaged (${code})`, 'cut', { status: 200, cause: error });
  const what = code.startsWith('HPE_') ? 'its answer is no HTTP that can be read' : 'no answer';
  return failed(`${what} (${code})`, 'connection', { cause: error });
}

/** Why a body was refused, as part of a sentence and without the key. */
export function refusal(error: InvalidBodyError, key: string): string {
  return error.quotingWith((text) => hideKey(text, key)).replace(/^The /, 'the ');
}

/** What a status other than 200 means, and what to do about it. */
export function statusReason(status: number): string {
  const known = STATUS_CODES[status] ?? 'an unknown status';
  if (status >= 300 && status < 400) return `${status} ${known}; redirects are not followed, check service.baseUrl`;
  return [`${status} ${known}`, advice[status]].filter((part) => part !== undefined).join('; ');
}

function hasCode(error: unknown): error is Error & { code: string } {
  return isNativeError(error) && 'code' in error && typeof error.code === 'string';
}
