import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../answer';
import { ServiceError } from '../service-error';
import type { SignatureError, SignatureProblem } from '../signature';
import type { AuthorisedCall } from './s3-call';
import type { S3Operation } from './s3-operation';
import { getBucketLocation, getObject, headBucket, headObject, listObjects } from './s3-read';
import { deleteObject, notImplementedHeader, putObject } from './s3-write';
import { toXml } from './xml';

interface OperationContract {
  readonly run: (call: AuthorisedCall) => Promise<Answer>;
  readonly parameters: readonly string[];
}

const contracts: Readonly<Record<S3Operation, OperationContract>> = {
  PutObject: { run: putObject, parameters: [] },
  GetObject: { run: getObject, parameters: [] },
  HeadObject: { run: headObject, parameters: [] },
  DeleteObject: { run: deleteObject, parameters: [] },
  ListObjectsV2: {
    run: listObjects,
    parameters: [
      'list-type',
      'prefix',
      'delimiter',
      'max-keys',
      'continuation-token',
      'start-after',
      'encoding-type',
      'fetch-owner',
    ],
  },
  HeadBucket: { run: headBucket, parameters: [] },
  GetBucketLocation: { run: getBucketLocation, parameters: ['location'] },
};

/** Headers whose meaning is known here; any other of S3's own would be ignored, which is worse than refused. */
const knownHeaders =
  /^x-amz-(?:content-sha256|date|security-token|user-agent|checksum-(?:mode|crc32|crc32c|crc64nvme|sha1|sha256)|sdk-checksum-algorithm|trailer|decoded-content-length|expected-bucket-owner|meta-.*|server-side-encryption(?:-aws-kms-key-id|-bucket-key-enabled)?)$/;

/**
 * Refuses what a call asks for beyond what is built here.
 * @throws ServiceError 501 that names the header or parameter
 */
export function checkS3Call(
  operation: S3Operation,
  headers: IncomingHttpHeaders,
  query: Readonly<Record<string, string>>,
  accountId: string,
): void {
  for (const name of Object.keys(headers))
    if (name.startsWith('x-amz-') && !knownHeaders.test(name)) throw notImplementedHeader(name);
  for (const name of Object.keys(query))
    if (name !== 'x-id' && !contracts[operation].parameters.includes(name))
      throw notImplemented(`${operation} with the parameter ${name}`);
  const owner = headers['x-amz-expected-bucket-owner'];
  if (owner !== undefined && owner !== accountId) throw new ServiceError(403, 'AccessDenied', 'Access Denied');
}

/** Carries out an authorised call. */
export function callS3(operation: S3Operation, call: AuthorisedCall): Promise<Answer> {
  return contracts[operation].run(call);
}

export function notImplemented(operation: string): ServiceError {
  return new ServiceError(501, 'NotImplemented', `The embedded endpoint has no ${operation}`, { Operation: operation });
}

const signatureAnswers: Readonly<Record<SignatureProblem, readonly [number, string, string]>> = {
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

/** How S3 answers a request that is not signed by whom it says. */
export function s3SignatureAnswer({ problem, message }: SignatureError, region: string): ServiceError {
  const [status, code, text] = signatureAnswers[problem];
  if (problem === 'wrong-scope') {
    if (!message.startsWith('the region')) return new ServiceError(status, code, text + message);
    // The header is for a HEAD, whose answer has no body to say it in: the clients turn to the right region by it.
    const headers = { 'x-amz-bucket-region': region };
    return new ServiceError(status, code, `${text}${message}; expecting '${region}'`, { Region: region }, headers);
  }
  return new ServiceError(status, code, text, problem === 'unsigned-header' ? { HeadersNotSigned: message } : {});
}

/** An error as S3 writes it; a HEAD has no body to write it in. */
export function s3ErrorAnswer(error: ServiceError, requestId: string, resource: string): Answer {
  const { status, code, message, details, headers } = error;
  return {
    status,
    headers: { ...headers, 'content-type': 'application/xml' },
    body: toXml('Error', {
      Code: code,
      Message: message,
      ...details,
      Resource: resource,
      RequestId: requestId,
      HostId: requestId,
    }),
  };
}
