import { STATUS_CODES } from 'node:http';
import { isNativeError } from 'node:util/types';
import { BodyTooLargeError, InvalidBodyError } from '../body/body-check';
import { CodingError } from '../body/content-coding';
import { SpoolError } from '../body/spool';
import { hideKey } from './hide-key';
import type { RequestWatch } from './request-watch';
import { ServiceError, type ServiceErrorDetails, type ServiceFailure } from './service-error';

/** Codes of errors that show where nothing was reached; the others are of a connection that was there. */
const unreachedCodes = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/;

const certificateCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;

/** What an operator does about a status. */
const advice: Readonly<Record<number, string>> = {
  401: 'set a valid API key',
  403: 'set an API key that may read this cluster, or check its projectUid',
  404: 'remove the cluster from the configuration if it is gone, or check service.collection and projectUid',
  429: 'lower limits.requestsPerSecond or limits.concurrency',
};

/** One call, as messages name it. */
export interface NamedCall {
  /** As part of a sentence. */
  readonly name: string;
  readonly base: URL;
  /** With the query; it begins with a slash. */
  readonly path: string;
}

/**
 * The error that names the call and the reason for its failure, and the URL where the address may be wrong. Only text of the
 * service can hold the key, so the key is hidden only there.
 */
export function explainFailure(error: unknown, call: NamedCall, key: string, watch: RequestWatch): unknown {
  const failed = (reason: string, failure: ServiceFailure, details: ServiceErrorDetails) =>
    new ServiceError(`${call.name} failed: ${reason}`, failure, details);
  const asked = `; asked ${call.base.origin}${call.path}`;
  if (error instanceof ServiceError)
    return failed(`${error.message}${mayBeElsewhere(error.status) ? asked : ''}`, error.failure, error);
  if (error instanceof SpoolError) return error;
  if (watch.expired !== undefined) return failed(watch.expired, 'timeout', { cause: error });
  if (error instanceof BodyTooLargeError) {
    const reason = `its body has ${error.message}; raise limits.maxBodyMiB if that is right`;
    return failed(reason, 'too-large', { status: 200 });
  }
  if (error instanceof CodingError) return failed(`its body ${error.message}`, 'coding', { status: 200, cause: error });
  // Only the cause's own cause: its message may quote the key.
  if (error instanceof InvalidBodyError)
    return new InvalidBodyError(`${call.name} answered 200 OK, but ${refusal(error, key)}`, { cause: error.cause });
  if (!hasCode(error)) return error;
  const { code } = error;
  if (certificateCodes.test(code)) {
    const lasting = `the service's certificate is not trusted (${code}); ${certificateAdvice(code)}`;
    return failed(`${lasting}; nothing was sent${asked}`, 'certificate', { lasting, cause: error });
  }
  if (watch.answered)
    return failed(`its body was cut short or damaged (${code})`, 'cut', { status: 200, cause: error });
  const lasting = faultOfAddress(code, call.base);
  if (lasting !== undefined) return failed(`${lasting}${asked}`, 'connection', { lasting, cause: error });
  const what = code.startsWith('HPE_') ? 'its answer is no HTTP that can be read' : 'no answer';
  return failed(`${what} (${code})${unreachedCodes.test(code) ? asked : ''}`, 'connection', { cause: error });
}

/** Whether a status may mean that something else was asked than the service's call. */
function mayBeElsewhere(status = 0): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

/** What is wrong with the address, and what to do; undefined: nothing that the code shows. */
function faultOfAddress(code: string, { hostname, host }: URL): string | undefined {
  if (code === 'ENOTFOUND')
    return `there is no host ${hostname} (${code}); check service.baseUrl, and the DNS of the network`;
  if (/^(EPROTO$|ERR_SSL_)/.test(code))
    return `what listens at ${host} does not speak TLS as it should (${code}); check the port in service.baseUrl`;
  return undefined;
}

function certificateAdvice(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'the team of the service has to renew it';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it is for another host: check service.baseUrl';
  return 'set service.caCertificateFile to the authority that signed it, if that is right';
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
