import type { Answer, Call, S3Request } from '../call';
import type { ObjectMetadata } from '../store/object-metadata';
import { toXml } from './s3-answers';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Keys in one page, at most. */
const largestPage = 1000;

export async function listObjects(call: Call, request: S3Request): Promise<Answer> {
  const token = call.target.query['continuation-token'];
  const startAfter = call.target.query['start-after'];
  const page = await readPage(
    call,
    request,
    token === undefined ? startAfter : Buffer.from(token, 'base64').toString(),
  );
  return listing('ListBucketResult', {
    ...page.members,
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString('base64') }),
    KeyCount: page.entries.length,
    Contents: page.entries,
  });
}

/** A folder keeps no former versions and no delete markers: every object is its own latest and only version. */
export async function listObjectVersions(call: Call, request: S3Request): Promise<Answer> {
  const page = await readPage(call, request, call.target.query['key-marker']);
  return listing('ListVersionsResult', {
    ...page.members,
    ...(page.next !== undefined && { NextKeyMarker: page.next }),
    Version: page.entries.map((entry) => ({ ...entry, VersionId: 'null', IsLatest: true })),
  });
}

function listing(root: string, content: object): Answer {
  const body = toXml(root, { '@xmlns': namespace, ...content });
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

/** One page of the keys behind `startAfter`, with what both kinds of listing say of it. */
async function readPage({ target }: Call, { bucket, store }: S3Request, startAfter: string | undefined) {
  const { prefix = '' } = target.query;
  const maxKeys = Math.min(Number(target.query['max-keys'] ?? largestPage), largestPage);
  const entries: ReturnType<typeof entryOf>[] = [];
  let next: string | undefined;
  for await (const object of store.list(prefix, startAfter)) {
    if (entries.length === maxKeys) {
      next = entries.at(-1)?.Key;
      break;
    }
    entries.push(entryOf(object));
  }
  return {
    next,
    entries,
    members: { Name: bucket, Prefix: prefix, MaxKeys: maxKeys, IsTruncated: next !== undefined },
  };
}

function entryOf({ key, lastModified, etag, size }: ObjectMetadata) {
  return { Key: key, LastModified: lastModified, ETag: `"${etag}"`, Size: size, StorageClass: 'STANDARD' };
}
