import { randomUUID } from 'node:crypto';
import { ListObjectsV2Command, type ListObjectsV2CommandInput, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Check, Subject } from './conformance';
import { failureOf } from './expect-failure';

const Bucket = 'archive';
const names = ['a', 'a-b/1', 'a.b', 'b/1', 'b/2', 'b/c/3', 'b/c/4', 'b0', 'c d+é/5', 'z'];

export const listingChecks: Readonly<Record<string, Check>> = {
  'lists the keys under a prefix in the order of their bytes': async (subject) => {
    const prefix = await fill(subject, ['b/x', 'b.x', 'b-x', 'b0', 'B', '\u{1F600}', '\uFF5E', 'é']);
    const { Contents, KeyCount, IsTruncated } = await list(subject, { Prefix: prefix });
    expect(Contents?.map(({ Key }) => Key?.slice(prefix.length))).toEqual([
      'B',
      'b-x',
      'b.x',
      'b/x',
      'b0',
      'é',
      '\uFF5E',
      '\u{1F600}',
    ]);
    expect([KeyCount, IsTruncated]).toEqual([8, false]);
  },

  'finds keys by a prefix that ends within a name': async (subject) => {
    const prefix = await fill(subject, names);
    const { Contents } = await list(subject, { Prefix: `${prefix}b` });
    expect(Contents?.map(({ Key }) => Key?.slice(prefix.length))).toEqual(['b/1', 'b/2', 'b/c/3', 'b/c/4', 'b0']);
  },

  'goes through pages of any size without losing or repeating': async (subject) => {
    const prefix = await fill(subject, names);
    const whole = await seen(subject, { Prefix: prefix });
    expect(whole).toHaveLength(names.length);
    for (const MaxKeys of [1, 2, 3, 7, 10]) expect(await seen(subject, { Prefix: prefix, MaxKeys })).toEqual(whole);
  },

  'starts behind a key': async (subject) => {
    const prefix = await fill(subject, names);
    const { Contents } = await list(subject, { Prefix: prefix, StartAfter: `${prefix}b/c/3` });
    expect(Contents?.map(({ Key }) => Key?.slice(prefix.length))).toEqual(['b/c/4', 'b0', 'c d+é/5', 'z']);
  },

  'answers an empty page for a prefix without keys, and for no keys at all': async (subject) => {
    expect(await list(subject, { Prefix: randomUUID() })).toMatchObject({ KeyCount: 0, IsTruncated: false });
    expect(await list(subject, { MaxKeys: 0 })).toMatchObject({ KeyCount: 0, IsTruncated: false });
  },

  'refuses a negative number of keys, and a token it did not give': async (subject) => {
    const invalid = { status: 400, code: 'InvalidArgument' };
    expect(await failureOf(list(subject, { MaxKeys: -1 }))).toMatchObject(invalid);
    expect(await failureOf(list(subject, { ContinuationToken: 'no token' }))).toMatchObject(invalid);
  },
};

async function fill({ s3 }: Subject, keys: readonly string[]): Promise<string> {
  const prefix = `${randomUUID()}/`;
  await Promise.all(keys.map((key) => s3.send(new PutObjectCommand({ Bucket, Key: prefix + key, Body: key }))));
  return prefix;
}

function list({ s3 }: Subject, input: Omit<ListObjectsV2CommandInput, 'Bucket'>) {
  return s3.send(new ListObjectsV2Command({ Bucket, ...input }));
}

async function seen(subject: Subject, input: Omit<ListObjectsV2CommandInput, 'Bucket'>): Promise<string[]> {
  const found: string[] = [];
  for (let ContinuationToken: string | undefined; ; ) {
    const page = await list(subject, { ...input, ContinuationToken });
    found.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ''));
    expect(page.KeyCount).toBeLessThanOrEqual(input.MaxKeys ?? 1000);
    ContinuationToken = page.NextContinuationToken;
    if (!page.IsTruncated || ContinuationToken === undefined) return found.sort();
  }
}
