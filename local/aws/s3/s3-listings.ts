import { encodeKeyPath } from '../../../lambda/archive/archive-layout';
import { type Answer, AwsError, type Call, type S3Request } from '../call';
import type { FolderStore } from '../store/folder-store';
import { compareKeys } from '../store/key-walk';
import type { ObjectMetadata } from '../store/object-metadata';
import { notImplemented, toXml } from './s3-answers';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Keys in one page, at most. */
const largestPage = 1000;

export async function listObjects(call: Call, { store }: S3Request): Promise<Answer> {
  const { 'continuation-token': token, 'start-after': startAfter, delimiter } = call.target.query;
  const after = token === undefined ? startAfter : Buffer.from(token, 'base64').toString();
  if (delimiter !== undefined) return listNames(call, store, delimiter, after);
  const page = await readPage(call, store, after);
  // As the AWS command line asks for it.
  const isEncoded = call.target.query['encoding-type'] === 'url';
  const contents = isEncoded ? page.entries.map((one) => ({ ...one, Key: encodeKeyPath(one.Key) })) : page.entries;
  return listing('ListBucketResult', page, {
    ...(isEncoded && { EncodingType: 'url' }),
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString('base64') }),
    KeyCount: page.entries.length,
    Contents: contents,
  });
}

/** Keys directly below a prefix, and the prefixes that the others have in common up to the next slash. */
async function listNames({ target }: Call, store: FolderStore, delimiter: string, after = ''): Promise<Answer> {
  if (delimiter !== '/') throw notImplemented('a delimiter other than /');
  const { prefix = '' } = target.query;
  const names: string[] = [];
  let next: string | undefined;
  for await (const { name } of store.listNames(prefix)) {
    if (compareKeys(name, after) <= 0) continue;
    if (names.length === largestPage) next = names.at(-1);
    if (next !== undefined) break;
    names.push(name);
  }
  const entries: ReturnType<typeof entryOf>[] = [];
  for (const name of names)
    for await (const one of name.endsWith('/') ? [] : store.list(name))
      if (one.key === name) entries.push(entryOf(one));
  return listing(
    'ListBucketResult',
    { entries, next },
    {
      ...(next !== undefined && { NextContinuationToken: Buffer.from(next).toString('base64') }),
      KeyCount: names.length,
      Contents: entries,
      CommonPrefixes: names.flatMap((name) => (name.endsWith('/') ? { Prefix: name } : [])),
    },
  );
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
