import { type Answer, AwsError, type Call, type S3Request } from '../call';
import type { FolderStore } from '../store/folder-store';
import type { ObjectMetadata } from '../store/object-metadata';
import { toXml } from './s3-answers';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Keys in one page, at most. */
const largestPage = 1000;

export async function listObjects(call: Call, { store }: S3Request): Promise<Answer> {
  const { 'continuation-token': token, 'start-after': startAfter } = call.target.query;
  const page = await readPage(call, store, token === undefined ? startAfter : Buffer.from(token, 'base64').toString());
  return listing('ListBucketResult', page, {
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString('base64') }),
    KeyCount: page.entries.length,
    Contents: page.entries,
  });
}

/** A folder keeps no former versions and no delete markers: every object is its own latest and only version. */
export async function listObjectVersions(call: Call, { store }: S3Request): Promise<Answer> {
  const page = await readPage(call, store, call.target.query['key-marker']);
  return listing('ListVersionsResult', page, {
    ...(page.next !== undefined && { NextKeyMarker: page.next }),
    Version: page.entries.map((entry) => ({ ...entry, VersionId: 'null', IsLatest: true })),
  });
}

interface Page {
  readonly entries: readonly ReturnType<typeof entryOf>[];
  /** The last key; undefined on the last page. */
  readonly next: string | undefined;
}

function listing(root: string, { next }: Page, content: object): Answer {
  const body = toXml(root, { '@xmlns': namespace, IsTruncated: next !== undefined, ...content });
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

/** One page of the keys behind `startAfter`. */
async function readPage({ target }: Call, store: FolderStore, startAfter: string | undefined): Promise<Page> {
  const { prefix = '', 'max-keys': maxKeys = `${largestPage}` } = target.query;
  if (!/^\d+$/.test(maxKeys))
    throw new AwsError(400, 'InvalidArgument', 'Provided max-keys not an integer or within integer range');
  const most = Math.min(Number(maxKeys), largestPage);
  const entries: ReturnType<typeof entryOf>[] = [];
  for await (const object of store.list(prefix, startAfter)) {
    if (entries.length === most) return { entries, next: entries.at(-1)?.Key };
    entries.push(entryOf(object));
  }
  return { entries, next: undefined };
}

function entryOf({ key, lastModified, etag, size }: ObjectMetadata) {
  return { Key: key, LastModified: lastModified, ETag: `"${etag}"`, Size: size, StorageClass: 'STANDARD' };
}
