import { encodeKeyPath } from '../../../archive/format/keys';
import { compareKeys, type ObjectMetadata } from '../../../archive/read';
import { type Answer, AwsError, type Call, type S3Request } from '../call';
import type { FolderStore } from '../store/folder-store';
import { notImplemented, toXml } from './s3-answers';

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
/** Keys in one page, at most. */
const largestPage = 1000;

export async function listObjects(call: Call, { store }: S3Request): Promise<Answer> {
  const { 'continuation-token': token, 'start-after': startAfter, 'encoding-type': encoding } = call.target.query;
  const page = await readPage(call, store, token === undefined ? startAfter : Buffer.from(token, 'base64').toString());
  // As boto3 and the AWS command line ask for it.
  const encoded = (key: string) => (encoding === 'url' ? encodeKeyPath(key) : key);
  return listing('ListBucketResult', page, {
    ...(encoding === 'url' && { EncodingType: 'url' }),
    ...(page.next !== undefined && { NextContinuationToken: Buffer.from(page.next).toString('base64') }),
    KeyCount: page.objects.length + page.prefixes.length,
    Contents: page.objects.map((one) => ({ ...entryOf(one), Key: encoded(one.key) })),
    CommonPrefixes: page.prefixes.map((prefix) => ({ Prefix: encoded(prefix) })),
  });
}

/** A folder keeps no former versions and no delete markers: every object is its own latest and only version. */
export async function listObjectVersions(call: Call, { store }: S3Request): Promise<Answer> {
  const page = await readPage(call, store, call.target.query['key-marker']);
  return listing('ListVersionsResult', page, {
    ...(page.next !== undefined && { NextKeyMarker: page.next }),
    Version: page.objects.map((one) => ({ ...entryOf(one), VersionId: 'null', IsLatest: true })),
  });
}

interface Page {
  readonly objects: ObjectMetadata[];
  /** With a delimiter: what the keys of other objects have in common, up to the next slash. */
  readonly prefixes: string[];
  /** The last name; undefined on the last page. */
  next?: string | undefined;
}

function listing(root: string, { next }: Page, content: object): Answer {
  const body = toXml(root, { '@xmlns': namespace, IsTruncated: next !== undefined, ...content });
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

/** One page of what lies under the call's prefix, behind a name. */
async function readPage({ target }: Call, store: FolderStore, after: string | undefined): Promise<Page> {
  const { prefix = '', delimiter, 'max-keys': maxKeys = `${largestPage}` } = target.query;
  if (!/^\d+$/.test(maxKeys))
    throw new AwsError(400, 'InvalidArgument', 'Provided max-keys not an integer or within integer range');
  if (delimiter !== undefined && delimiter !== '/') throw notImplemented('a delimiter other than /');
  const most = Math.min(Number(maxKeys), largestPage);
  const page: Page = { objects: [], prefixes: [] };
  let last: string | undefined;
  for await (const found of delimiter === undefined ? store.list(prefix, after) : namesOf(store, prefix, after)) {
    if (page.objects.length + page.prefixes.length === most) return { ...page, next: last };
    last = typeof found === 'string' ? found : found.key;
    if (typeof found === 'string') page.prefixes.push(found);
    else page.objects.push(found);
  }
  return page;
}

/** What lies directly below a prefix: objects, and the names of folders. */
async function* namesOf(store: FolderStore, prefix: string, after = ''): AsyncGenerator<ObjectMetadata | string> {
  for await (const { name } of store.listNames(prefix)) {
    if (compareKeys(name, after) <= 0) continue;
    if (name.endsWith('/')) yield name;
    else for await (const object of store.list(name)) if (object.key === name) yield object;
  }
}

function entryOf({ key, lastModified, etag, size }: ObjectMetadata) {
  return { Key: key, LastModified: lastModified, ETag: `"${etag}"`, Size: size, StorageClass: 'STANDARD' };
}
