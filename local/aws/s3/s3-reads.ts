import { AwsError } from '../aws-error';
import type { Answer, Call, S3Request } from '../call';
import type { StoredObject } from '../store/folder-store';
import { InvalidKeyError } from '../store/key-path';
import { checksumHeaders, userMetadataPrefix } from './s3-writes';

/** Also answers HeadObject: the answer to a HEAD is sent without its body. */
export async function getObject(call: Call, request: S3Request): Promise<Answer> {
  const { metadata, open } = await find(request);
  return { status: 200, headers: objectHeaders(call, metadata), ...(metadata.size > 0 && { body: open }) };
}

async function find({ store, key, refusalToList }: S3Request): Promise<StoredObject> {
  const found = await store.get(key).catch((error: unknown) => {
    // A key that cannot be stored has no object.
    if (error instanceof InvalidKeyError) return undefined;
    throw error;
  });
  if (found === undefined) throw refusalToList() ?? new AwsError(404, 'NoSuchKey', 'The specified key does not exist.');
  const { damage } = found.metadata;
  if (damage !== undefined) throw new Error(`Reading ${key} failed: ${damage}`);
  return found;
}

function objectHeaders({ request }: Call, metadata: StoredObject['metadata']): Record<string, string> {
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
