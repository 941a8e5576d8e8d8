import { isNativeError } from 'node:util/types';
import { InvalidBodyError } from '../body/body-check';
import { CodingError } from '../body/content-coding';
import { ServiceError, type ServiceErrorDetails, type ServiceFailure } from './service-error';

/** Longest head of an answer that is taken, in bytes. */
export const maxHeadBytes = 64 * 1024;

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
  if (error instanceof ServiceError) {
    const port = error.status === 400 ? adviceOnHttp(url) : '';
    return failed(`${hide(error.message)}${port}${mayBeElsewhere(error.status) ? asked : ''}`, error.failure, error);
  }
  if (error instanceof CodingError) return failed(`its body ${error.message}`, 'coding', { status: 200, cause: error });
  if (error instanceof InvalidBodyError)
    return new InvalidBodyError(`${call} answered 200 OK, but ${hide(refusal(error))}`, error);
  if (!hasCode(error)) return error;
  const { code } = error;
  if (certificateCodes.test(code)) {
    const lasting = `the service's certificate is not trusted (${code}); ${certificateAdvice(code)}`;
    return failed(`${lasting}; nothing was sent${asked}`, 'unusable', { lasting, cause: error });
  }
  if (isAnswered) return failed(`its body was cut short or damaged (${code})`, 'cut', { status: 200, cause: error });
  const lasting = faultOfAddress(error, url);
  if (lasting !== undefined) return failed(`${lasting}${asked}`, 'connection', { lasting, cause: error });
  const reason = `${whatCame(code)} (${code})${adviceOn(code, url)}`;
  return failed(`${reason}${unreachedCodes.test(code) ? asked : ''}`, 'connection', { cause: error });
}

/** What came in place of an answer. */
function whatCame(code: string): string {
  if (code === 'HPE_HEADER_OVERFLOW') return `the headers of its answer are larger than ${maxHeadBytes / 1024} KiB`;
  return code.startsWith('HPE_') ? 'the answer is not valid HTTP' : 'no answer';
}

/** What may be wrong with the address. A service that starts again refuses and resets too, so this is not lasting. */
function adviceOn(code: string, url: URL): string {
  if (code === 'ECONNREFUSED') return ', nothing listens at the port of service.baseUrl';
  return code === 'ECONNRESET' || code === 'HPE_INVALID_CONSTANT' ? adviceOnHttp(url) : '';
}

/** A port of TLS resets a request in plain HTTP, or answers it with 400, or in TLS. */
function adviceOnHttp({ protocol }: URL): string {
  return protocol === 'http:' ? '; if this is a port of TLS, service.baseUrl has to begin with https' : '';
}

/** Whether a status may mean that something else was asked than the service's call. */
function mayBeElsewhere(status = 0): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

/** What is wrong with the address, and what to do; undefined: nothing that the error shows. */
function faultOfAddress({ code, message }: CodedError, { hostname, host }: URL): string | undefined {
  if (code === 'ENOTFOUND')
    return `the host ${hostname} does not exist (${code}); check service.baseUrl, and the DNS of the network`;
  if (!/^(EPROTO$|ERR_SSL_)/.test(code)) return undefined;
  // The code alone is often EPROTO; what the other side said of the handshake stands in the message.
  if (/alert (certificate required|bad certificate|no certificate)/.test(message))
    return `what listens at ${host} wants a client certificate, which the collector cannot show; ask the team of the service for an address that takes the API key alone`;
  if (/alert protocol version|unsupported protocol|version too low/.test(message))
    return `what listens at ${host} speaks no TLS of version 1.2 or newer; ask the team of the service to switch it on`;
  if (/alert handshake failure/.test(message))
    return `what listens at ${host} refused the TLS handshake; ask the team of the service whether it wants a client certificate, which the collector cannot show, or has no cipher of today`;
  return `what listens at ${host} does not speak TLS as it should (${code}); check the port in service.baseUrl`;
}

function certificateAdvice(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'the team of the service has to renew it';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it is for another host: check service.baseUrl';
  if (code === 'UNABLE_TO_GET_ISSUER_CERT')
    return 'service.caCertificateFile has an authority that another one signed: add every authority up to the root, which signed itself';
  return 'set service.caCertificateFile to the authority that signed it, if that is right';
}

/** Why a body was refused, as part of a sentence. */
export function refusal({ message }: InvalidBodyError): string {
  return message.replace(/^The /, 'the ');
}

type CodedError = Error & { readonly code: string };

function hasCode(error: unknown): error is CodedError {
  return isNativeError(error) && 'code' in error && typeof error.code === 'string';
}
