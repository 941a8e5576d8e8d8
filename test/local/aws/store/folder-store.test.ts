import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InvalidKeyError } from '../../../../archive/format/folder-layout';
import type { ObjectMetadata } from '../../../../archive/read/folder/object-description';
import { FolderStore, ObjectExistsError } from '../../../../local/aws/store/folder-store';
import { newFolder } from '../../../support/new-folder';

let root: string;
let folder: string;
let store: FolderStore;

beforeEach(async () => {
  root = newFolder();
  // Deep enough that a store which let a key out of its folder would still not get out of the test's own.
  folder = join(root, 'around', 'archive');
  await mkdir(folder, { recursive: true });
  store = new FolderStore(folder);
});

const body = (text: string): Buffer => Buffer.from(text);

async function contentOf(key: string): Promise<string | undefined> {
  const found = await store.get(key);
  return found && text(found.open());
}

async function leftovers(): Promise<string[]> {
  const incoming = join(folder, '.metadata-incoming');
  return existsSync(incoming) ? readdir(incoming) : [];
}

function listed(prefix = '', startAfter?: string): Promise<ObjectMetadata[]> {
  return Readable.from(store.list(prefix, startAfter)).toArray();
}

async function keysOf(prefix?: string, startAfter?: string): Promise<string[]> {
  return (await listed(prefix, startAfter)).map(({ key }) => key);
}

describe('FolderStore', () => {
  it('lays the bytes under the key and what is known of them beside it', async () => {
    const key = 'logs/cluster=a%20b/date=2026-11-20/20261120T100000.000Z.json.gz';
    const stored = await store.put(key, body('hello'), { contentType: 'text/plain', userMetadata: { state: 'x' } });
    expect(await readFile(join(folder, key), 'utf8')).toBe('hello');
    expect(JSON.parse(await readFile(join(folder, 'metadata', `${key}.json`), 'utf8'))).toMatchObject(stored);
    expect(stored).toMatchObject({
      key,
      size: 5,
      etag: '5d41402abc4b2a76b9719d911017c592',
      contentType: 'text/plain',
      userMetadata: { state: 'x' },
      checksums: {},
    });
    expect(await store.head(key)).toEqual(stored);
    expect(await leftovers()).toEqual([]);
  });

  it('lets exactly one of racing writers win, with bytes and metadata of its own', async () => {
    const writers = Array.from({ length: 20 }, (_, i) =>
      new FolderStore(folder).put('a', body(`${i}`), { userMetadata: { writer: `${i}` } }, { ifNoneMatch: true }),
    );
    const results = await Promise.allSettled(writers);
    const winners = results.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${i}`] : []));
    expect(winners).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ObjectExistsError);
    expect(await contentOf('a')).toBe(winners[0]);
    expect((await store.head('a'))?.userMetadata).toEqual({ writer: winners[0] });
    expect(await leftovers()).toEqual([]);
  });

  it('refuses to write where a file lies that it did not put there', async () => {
    await writeFile(join(folder, 'a'), 'by hand');
    await expect(store.put('a', body('x'), {}, { ifNoneMatch: true })).rejects.toThrow(ObjectExistsError);
    expect(await contentOf('a')).toBe('by hand');
  });

  it.each<[string, string | undefined, string]>([
    ['cut', '{"key":"a","etag":"x', 'it is not JSON'],
    ['empty', '', 'it is not JSON'],
    ['of another kind', '[]', 'it is not a description of an object'],
    ['without its checksums', '{"etag":"x","lastModified":"2026-01-01T00:00:00.000Z"}', 'it is not a description'],
    ['very long', ' '.repeat(100_000), 'it has 100000 bytes'],
    ['a folder', undefined, 'it is a folder, not a regular file'],
  ])('says that an object is damaged whose description is %s, and lists it with the others', async (_, description, reason) => {
    for (const key of ['logs/a', 'logs/b']) await store.put(key, body('hello'), { userMetadata: { state: 'x' } });
    const described = join(folder, 'metadata', 'logs', 'a.json');
    await rm(described);
    if (description === undefined) await mkdir(described);
    else await writeFile(described, description);
    const [damaged, whole] = await listed('logs/');
    expect(damaged).toMatchObject({ key: 'logs/a', size: 5, userMetadata: {}, checksums: {} });
    expect(damaged?.damage).toContain(`its metadata file in metadata/ cannot be used: ${reason}`);
    expect(whole).toMatchObject({ key: 'logs/b', userMetadata: { state: 'x' } });
    expect(whole?.damage).toBeUndefined();
    expect((await store.get('logs/a'))?.metadata).toEqual(damaged);
    await expect(store.put('logs/a', body('x'), {}, { ifNoneMatch: true })).rejects.toThrow(ObjectExistsError);
  });

  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    '../a',
    'a/../../b',
    'a/./b',
    'a\\b',
    'a\0b',
    'metadata/a',
    'metadata',
    '.metadata/a',
    '.metadata-x',
    `cluster=${'%E4'.repeat(81)}`,
    'a\ufffdb',
    '\ud800',
  ])('keeps the key %j out of the folder', async (key) => {
    await writeFile(join(root, 'around', 'a'), 'beside the folder');
    await expect(store.put(key, body('x'), {})).rejects.toThrow(InvalidKeyError);
    expect(await store.get(key)).toBeUndefined();
    await store.delete(key);
    expect(await readdir(folder)).toEqual([]);
    expect((await readdir(join(root, 'around'))).sort()).toEqual(['a', 'archive']);
  });

  const unusual = [
    'cluster=..',
    `cluster=${'%E4'.repeat(80)}`,
    '…',
    '...',
    '~',
    'a.json',
    'a b+c%2F',
    'é',
    'name\nof two lines',
    ' ',
  ];

  it.each(unusual)('takes the key %j', async (key) => {
    await store.put(`x/${key}/y`, body('x'), {});
    expect(await keysOf('x/')).toEqual([`x/${key}/y`]);
    expect(await contentOf(`x/${key}/y`)).toBe('x');
  });

  it('refuses a key that has another one as its folder, and keeps both apart', async () => {
    await store.put('a', body('x'), {});
    await expect(store.put('a/b', body('y'), {})).rejects.toThrow(InvalidKeyError);
    await expect(store.put('a/b', body('y'), {}, { ifNoneMatch: true })).rejects.toThrow(InvalidKeyError);
    await store.put('c/d', body('x'), {});
    await expect(store.put('c', body('y'), {}, { ifNoneMatch: true })).rejects.toThrow(InvalidKeyError);
    await expect(store.put('c', body('y'), {})).rejects.toThrow(InvalidKeyError);
    expect(await store.head('a/b')).toBeUndefined();
    expect(await store.head('c')).toBeUndefined();
    expect(await keysOf()).toEqual(['a', 'c/d']);
    expect(await leftovers()).toEqual([]);
  });

  it('takes the key of an object from the place of its bytes, not from its description', async () => {
    await store.put('logs/a', body('content'), {});
    await copyFile(join(folder, 'logs', 'a'), join(folder, 'logs', 'b'));
    await copyFile(join(folder, 'metadata', 'logs', 'a.json'), join(folder, 'metadata', 'logs', 'b.json'));
    expect(await keysOf('logs/')).toEqual(['logs/a', 'logs/b']);
  });
});
