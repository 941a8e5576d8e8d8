import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { checksumText } from '../../lambda/archive/archive-object';
import type { ArchiveShape } from '../workload';
import { type MadeObject, madeArchive } from './made-archive';

/** Most keys of one answer, as in S3. */
const pageLength = 1000;

let made: { readonly shape: string; readonly objects: ReadonlyMap<string, MadeObject>; readonly keys: string[] };
const checksums = new WeakMap<Buffer, string>();

/** Objects that were sent since the archive was last asked for. */
export let sentObjects = 0;

export function resetArchive(shape: ArchiveShape): void {
  sentObjects = 0;
  if (made?.shape === JSON.stringify(shape)) return;
  const objects = new Map([...madeArchive(shape)].map((object) => [object.key, object]));
  made = { shape: JSON.stringify(shape), objects, keys: [...objects.keys()].sort() };
}

/** Answers GetObject and ListObjectsV2 as S3 does. */
export async function answerAsArchive({ url = '/' }: IncomingMessage, response: ServerResponse, latencyMs: number) {
  await delay(latencyMs);
  const { pathname, searchParams } = new URL(url, 'https://archive');
  const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
  if (key === '') return void response.writeHead(200, { 'content-type': 'application/xml' }).end(listed(searchParams));
  const object = made.objects.get(key);
  if (object === undefined)
    return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code><Message>none</Message></Error>');
  const { body, contentType, contentEncoding, metadata } = object;
  sentObjects += 1;
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': body.length,
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
    'x-amz-checksum-crc32': checksumOf(body),
    'x-amz-checksum-type': 'FULL_OBJECT',
    etag: '"00000000000000000000000000000000"',
  });
  response.end(body);
}

function checksumOf(body: Buffer): string {
  const known = checksums.get(body) ?? checksumText(crc32(body));
  checksums.set(body, known);
  return known;
}

function listed(query: URLSearchParams): string {
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter')];
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const most = Number(query.get('max-keys') ?? pageLength);
  const [contents, prefixes] = [[] as string[], new Set<string>()];
  let last: string | undefined;
  let isTruncated = false;
  for (let at = firstAfter(after < prefix ? prefix : after, after >= prefix); at < made.keys.length; at += 1) {
    const key = made.keys[at] ?? '';
    if (!key.startsWith(prefix)) break;
    const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
    const common = key.slice(0, end + 1);
    if (end < 0 || !prefixes.has(common)) {
      isTruncated = contents.length + prefixes.size === most;
      if (isTruncated) break;
      if (end < 0) contents.push(key);
      else prefixes.add(common);
    }
    last = key;
  }
  const found = contents.map((key) => {
    const size = made.objects.get(key)?.body.length;
    return `<Contents><Key>${key}</Key><Size>${size}</Size><LastModified>2026-11-21T00:00:00.000Z</LastModified></Contents>`;
  });
  const common = [...prefixes].map((one) => `<CommonPrefixes><Prefix>${one}</Prefix></CommonPrefixes>`);
  const next = isTruncated ? `<NextContinuationToken>${last}</NextContinuationToken>` : '';
  return `<ListBucketResult><KeyCount>${found.length + common.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${next}${found.join('')}${common.join('')}</ListBucketResult>`;
}

/** Index of the first key from `key` on, or behind it. */
function firstAfter(key: string, isBehind: boolean): number {
  let [from, to] = [0, made.keys.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = made.keys[middle] ?? '';
    if (other < key || (isBehind && other === key)) from = middle + 1;
    else to = middle;
  }
  return from;
}
