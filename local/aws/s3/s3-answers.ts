import { XMLBuilder } from 'fast-xml-parser';
import { AwsError } from '../aws-error';
import type { Answer } from '../call';
import type { SignatureError, SignatureProblem } from '../signature';

const builder = new XMLBuilder({ attributeNamePrefix: '@', ignoreAttributes: false });

/** A document with one root element; an array becomes repeated elements, a name beginning with `@` an attribute. */
export function toXml(root: string, content: Readonly<Record<string, unknown>>): string {
  const text: string = builder.build({ [root]: content });
  // Keys may hold control characters, which XML has only as references.
  const escaped = text.replace(/\p{Cc}/gu, (c) => `&#x${c.charCodeAt(0).toString(16)};`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${escaped}`;
}

/** An error as S3 writes it. */
export function s3ErrorAnswer({ status, code, message, details, headers }: AwsError, requestId: string): Answer {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/xml' },
    body: toXml('Error', { Code: code, Message: message, ...details, RequestId: requestId }),
  };
}

/** @param what is not built here: an operation, a header, a parameter */
export function notImplemented(what: string): AwsError {
  return new AwsError(501, 'NotImplemented', `The embedded endpoint does not know ${what}`);
}

export function invalidArgument(message: string, name: string, value: string): AwsError {
  return new AwsError(400, 'InvalidArgument', message, { ArgumentName: name, ArgumentValue: value });
}

/** The body is not the one whose hash was signed. */
export function wrongPayloadHash(): AwsError {
  const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
  return new AwsError(400, 'XAmzContentSHA256Mismatch', message);
}

const signatureErrors: Readonly<Record<SignatureProblem, readonly [number, string, string]>> = {
  missing: [403, 'AccessDenied', 'Access Denied'],
  malformed: [400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed.'],
  'wrong-scope': [400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed; '],
  'unknown-key': [403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.'],
  'wrong-token': [400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.'],
  'no-date': [403, 'AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header'],
  skewed: [403, 'RequestTimeTooSkewed', 'The difference between the request time and the current time is too large.'],
  'unsigned-header': [403, 'AccessDenied', 'There were headers present in the request which were not signed'],
  mismatch: [
    403,
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
};

/** S3's answer to a request with a wrong signature. */
export function signatureError({ problem, message }: SignatureError, region: string): AwsError {
  const [status, code, text] = signatureErrors[problem];
  if (problem === 'wrong-scope') {
    if (!message.startsWith('the region')) return new AwsError(status, code, text + message);
    // A HEAD has no body: its client learns the right region from the header.
    const headers = { 'x-amz-bucket-region': region };
    return new AwsError(status, code, `${text}${message}; expecting '${region}'`, { Region: region }, headers);
  }
  return new AwsError(status, code, text, problem === 'unsigned-header' ? { HeadersNotSigned: message } : {});
}
