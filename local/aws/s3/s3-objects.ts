import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { InvalidKeyError } from '../../../archive/format/folder-layout';
import { checksumText } from '../../../archive/format/object-headers';
import type { StoredFile } from '../../../archive/read';
import { type Answer, AwsError, type Call, type S3Request } from '../call';
import { ObjectExistsError } from '../store/folder-store';
import { notImplemented } from './s3-answers';

/** S3's limit for names and values of user metadata together, in bytes. */
const largestMetadata = 2048;

const userMetadataPrefix = 'x-amz-meta-';

export async function putObject(call: Call, { store, key }: S3Request): Promise<Answer> {
  const { headers } = call.request;
  const ifNoneMatch = headers['if-none-match'] !== undefined;
  if (ifNoneMatch && headers['if-none-match'] !== '*') throw notImplemented('If-None-Match with a tag');
  const userMetadata = userMetadataOf(headers);
  const checksum = headers[checksumHeader]?.toString();
  try {
    const { etag, checksums } = await store.put(
      key,
      checkedBytes(call.request),
      {
        contentType: headers['content-type'] ?? 'binary/octet-stream',
        ...(headers['content-encoding'] !== undefined && { contentEncoding: headers['content-encoding'] }),
        userMetadata,
        ...(checksum !== undefined && { checksums: { crc32: checksum } }),
      },
      { ifNoneMatch },
    );
    return { status: 200, headers: { etag: `"${etag}"`, ...checksumHeaders(checksums) } };
  } catch (error) {
    if (error instanceof ObjectExistsError) throw preconditionFailed();
    if (error instanceof InvalidKeyError) throw new AwsError(400, 'InvalidArgument', error.message);
    throw error;
  }
}

export async function deleteObject(_call: Call, { store, key }: S3Request): Promise<Answer> {
  await store.delete(key);
  return { status: 204, headers: {} };
}

/** Also answers HeadObject: the answer to a HEAD is sent without its body. */
export async function getObject(call: Call, request: S3Request): Promise<Answer> {
  const { metadata, open } = await find(request);
  return { status: 200, headers: objectHeaders(call, metadata), ...(metadata.size > 0 && { body: open }) };
}

async function find({ store, key, refusalToList }: S3Request): Promise<StoredFile> {
  const found = await store.get(key);
  if (found === undefined) throw refusalToList() ?? new AwsError(404, 'NoSuchKey', 'The specified key does not exist.');
  const { damage } = found.metadata;
  if (damage !== undefined) throw new Error(`Reading ${key} failed: ${damage}`);
  return found;
}

function objectHeaders({ request }: Call, metadata: StoredFile['metadata']): Record<string, string> {
  const { userMetadata, checksums, contentEncoding, contentType = 'binary/octet-stream' } = metadata;
  return {
    ...Object.fromEntries(Object.entries(userMetadata).map(([name, value]) => [userMetadataPrefix + name, value])),
    ...(request.headers['x-amz-checksum-mode'] === 'ENABLED' && checksumHeaders(checksums)),
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    'content-type': contentType,
    'content-length': String(metadata.size),
    'last-modified': new Date(metadata.lastModified).toUTCString(),
    etag: `"${metadata.etag}"`,
  };
}

/** The headers that tell an object's checksum. */
function checksumHeaders({ crc32: sum }: Readonly<Record<string, string>>): Record<string, string> {
  return sum === undefined ? {} : { [checksumHeader]: sum, 'x-amz-checksum-type': 'FULL_OBJECT' };
}

const checksumHeader = 'x-amz-checksum-crc32';

/**
 * Passes a body on and checks it at its end: what was yielded counts only if the iteration ends without an error, as it
 * does not if a connection ends before the length that it announced.
 * @throws AwsError for a body that does not have the checksum that the headers promise
 */
async function* checkedBytes(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  const promisedSum = request.headers[checksumHeader];
  let sum = 0;
  for await (const chunk of request) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (promisedSum !== undefined && checksumText(sum) !== promisedSum)
    throw new AwsError(400, 'BadDigest', 'The CRC32 you specified did not match the calculated checksum.');
}

function userMetadataOf(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers)
    .filter(([name]) => name.startsWith(userMetadataPrefix))
    .map(([name, value]) => [name.slice(userMetadataPrefix.length), String(value)] as const);
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (size > largestMetadata)
    throw new AwsError(400, 'MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size');
  return Object.fromEntries(entries);
}

function preconditionFailed(): AwsError {
  return new AwsError(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
}
