import { isNativeError } from 'node:util/types';
import { InvalidBodyError } from '../body/body-check';
import { CodingError } from '../body/content-coding';
import { ServiceError, type ServiceErrorDetails, type ServiceFailure } from './service-error';

/** Codes of errors that show where nothing was reached; the others are of a connection that was there. */
const unreachedCodes = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/;

const certificateCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;

/**
 * The error that names the call and the reason for its failure, and the URL where the address may be wrong.
 * @param call as messages name it, part of a sentence
 * @param isAnswered whether the answer's head had arrived
 * @param hide takes the key out of a text: the reason may quote the service
 */
export function explainFailure(
  error: unknown,
  call: string,
  url: URL,
  isAnswered: boolean,
  hide: (text: string) => string,
): unknown {
  const failed = (reason: string, failure: ServiceFailure, details: ServiceErrorDetails) =>
    new ServiceError(`${call} failed: ${reason}`, failure, details);
  const asked = `; asked ${url.href}`;
  if (error instanceof ServiceError)
    return failed(`${hide(error.message)}${mayBeElsewhere(error.status) ? asked : ''}`, error.failure, error);
  if (error instanceof CodingError) return failed(`its body ${error.message}`, 'coding', { status: 200, cause: error });
  if (error instanceof InvalidBodyError)
    return new InvalidBodyError(`${call} answered 200 OK, but ${hide(refusal(error))}`, { cause: error.cause });
  if (!hasCode(error)) return error;
  const { code } = error;
  if (certificateCodes.test(code)) {
    const lasting = `the service's certificate is not trusted (${code}); ${certificateAdvice(code)}`;
    return failed(`${lasting}; nothing was sent${asked}`, 'unusable', { lasting, cause: error });
  }
  if (isAnswered) return failed(`its body was cut short or damaged (${code})`, 'cut', { status: 200, cause: error });
  const lasting = faultOfAddress(code, url);
  if (lasting !== undefined) return failed(`${lasting}${asked}`, 'connection', { lasting, cause: error });
  const what = code.startsWith('HPE_') ? 'the answer is not valid HTTP' : 'no answer';
  // A service that starts again refuses too, so this is not lasting.
  const port = code === 'ECONNREFUSED' ? ', nothing listens at the port of service.baseUrl' : '';
  return failed(`${what} (${code})${port}${unreachedCodes.test(code) ? asked : ''}`, 'connection', { cause: error });
}

/** Whether a status may mean that something else was asked than the service's call. */
function mayBeElsewhere(status = 0): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

/** What is wrong with the address, and what to do; undefined: nothing that the code shows. */
function faultOfAddress(code: string, { hostname, host }: URL): string | undefined {
  if (code === 'ENOTFOUND')
    return `the host ${hostname} does not exist (${code}); check service.baseUrl, and the DNS of the network`;
  if (/^(EPROTO$|ERR_SSL_)/.test(code))
    return `what listens at ${host} does not speak TLS as it should (${code}); check the port in service.baseUrl`;
  return undefined;
}

function certificateAdvice(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'the team of the service has to renew it';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it is for another host: check service.baseUrl';
  return 'set service.caCertificateFile to the authority that signed it, if that is right';
}

/** Why a body was refused, as part of a sentence. */
export function refusal({ message }: InvalidBodyError): string {
  return message.replace(/^The /, 'the ');
}

function hasCode(error: unknown): error is Error & { code: string } {
  return isNativeError(error) && 'code' in error && typeof error.code === 'string';
}
