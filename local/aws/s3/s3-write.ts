import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../answer';
import { ServiceError } from '../service-error';
import { InvalidKeyError, ObjectExistsError, type ObjectHeaders } from '../store/folder-store';
import { KeyConflictError } from '../store/key-lock';
import { checksumHeaderPrefix } from './checksums';
import type { AuthorisedCall } from './s3-call';
import { Upload } from './upload';

/** S3's limit for names and values of user metadata together, in bytes. */
const largestMetadata = 2048;
/** S3's limit for a key, in bytes of UTF-8. */
const longestKey = 1024;

const metadataPrefix = 'x-amz-meta-';

/** Headers that are kept with the object and given back as they came. */
const keptHeaders = [
  'cache-control',
  'content-disposition',
  'content-language',
  'expires',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-bucket-key-enabled',
];

export async function putObject(call: AuthorisedCall): Promise<Answer> {
  const { headers } = call.request;
  if (Buffer.byteLength(call.key) > longestKey)
    throw new ServiceError(400, 'KeyTooLongError', 'Your key is too long', {
      Size: String(Buffer.byteLength(call.key)),
      MaxSizeAllowed: String(longestKey),
    });
  const ifNoneMatch = headers['if-none-match'] !== undefined;
  if (ifNoneMatch && headers['if-none-match'] !== '*') throw notImplementedHeader('If-None-Match');
  if (headers['if-match'] !== undefined) throw notImplementedHeader('If-Match');
  const userMetadata = userMetadataOf(headers);
  const upload = new Upload(headers);
  try {
    // Known before the body: a client that waits to be asked for it need not send it.
    if (ifNoneMatch && (await call.store.head(call.key)) !== undefined) throw preconditionFailed();
    const stored = await call.store.put(
      call.key,
      upload.bytes(call.body(), call.signing),
      () => objectHeadersOf(headers, userMetadata, upload.checksums),
      { ifNoneMatch },
    );
    return {
      status: 200,
      headers: { etag: `"${stored.etag}"`, ...checksumHeaders(stored.checksums), ...encryptionHeaders(stored.headers) },
    };
  } catch (error) {
    if (error instanceof ObjectExistsError) throw preconditionFailed();
    if (error instanceof InvalidKeyError) throw new ServiceError(400, 'InvalidArgument', error.message);
    if (error instanceof KeyConflictError) throw conflict(ifNoneMatch);
    throw error;
  }
}

export async function deleteObject({ store, key, request }: AuthorisedCall): Promise<Answer> {
  if (request.headers['if-match'] !== undefined) throw notImplementedHeader('If-Match');
  try {
    await store.delete(key);
  } catch (error) {
    if (error instanceof KeyConflictError) throw conflict(false);
    // A key that cannot be stored is not there, and to delete what is not there succeeds.
    if (!(error instanceof InvalidKeyError)) throw error;
  }
  return { status: 204, headers: {} };
}

/** The headers that tell an object's checksum. */
export function checksumHeaders(checksums: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(checksums).map(([algorithm, value]) => [checksumHeaderPrefix + algorithm, value]);
  return entries.length === 0 ? {} : { ...Object.fromEntries(entries), 'x-amz-checksum-type': 'FULL_OBJECT' };
}

/** The headers that tell how an object is encrypted at rest: by S3 itself where the writer asked for nothing else. */
export function encryptionHeaders(headers: ObjectHeaders['headers'] = {}): Record<string, string> {
  const asked = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-server-side-encryption'));
  return asked.length === 0 ? { 'x-amz-server-side-encryption': 'AES256' } : Object.fromEntries(asked);
}

/** A header asks for something that is not there. */
export function notImplementedHeader(header: string): ServiceError {
  const message = 'A header you provided implies functionality that is not implemented';
  return new ServiceError(501, 'NotImplemented', message, { Header: header });
}

function objectHeadersOf(
  headers: IncomingHttpHeaders,
  userMetadata: Readonly<Record<string, string>>,
  checksums: Readonly<Record<string, string>>,
): ObjectHeaders {
  const contentEncoding = String(headers['content-encoding'] ?? '')
    .split(',')
    .map((coding) => coding.trim())
    // How the body was sent, not what it is.
    .filter((coding) => coding !== '' && coding !== 'aws-chunked')
    .join(',');
  const kept = keptHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
  return {
    contentType: headers['content-type'] ?? 'binary/octet-stream',
    ...(contentEncoding === '' ? {} : { contentEncoding }),
    userMetadata,
    checksums,
    headers: Object.fromEntries(kept),
  };
}

function userMetadataOf(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers)
    .filter(([name]) => name.startsWith(metadataPrefix))
    .map(([name, value]) => [name.slice(metadataPrefix.length), String(value)] as const);
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (size > largestMetadata)
    throw new ServiceError(400, 'MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size', {
      Size: String(size),
      MaxSizeAllowed: String(largestMetadata),
    });
  return Object.fromEntries(entries);
}

function preconditionFailed(): ServiceError {
  return new ServiceError(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: 'If-None-Match',
  });
}

function conflict(isConditional: boolean): ServiceError {
  return isConditional
    ? new ServiceError(
        409,
        'ConditionalRequestConflict',
        'The conditional request cannot succeed due to a conflicting operation against this resource.',
      )
    : new ServiceError(
        409,
        'OperationAborted',
        'A conflicting conditional operation is currently in progress against this resource. Please try again.',
      );
}
