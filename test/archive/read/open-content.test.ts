import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { objectKey } from '../../../archive/format/keys';
import type { Body, OpenedObject } from '../../../archive/read/archive-reader';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { damageOf, gunzipWhole, openContent } from '../../../archive/read/open-content';
import { ArchiveFixture } from '../../cli/archive-fixture';

const run = new Date('2026-11-20T09:00:00Z');
const key = objectKey({ resource: 'manifest', cluster: 'c', run });

describe.each([
  ['small', 'kind: Namespace\n'],
  ['large', 'kind: Namespace\n'.repeat(100_000)],
])('reading the content of a %s object', (size, content) => {
  let archive: ArchiveFixture;
  let stored: Buffer;
  let metadata: Readonly<Record<string, string>>;

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    await archive.attempt({ run, clusters: ['c'], answer: () => ({ content }) });
    const object = await archive.store.get(key);
    if (object === undefined) throw new Error('nothing was stored');
    stored = await buffer(object.open());
    metadata = object.metadata.userMetadata;
  });

  /** The content, or what is wrong with the object; by a stream, and as a whole if the object is small. */
  async function read(): Promise<[string, string]> {
    const textOf = async (object: OpenedObject, stored: Body) =>
      `${await buffer(Readable.from(openContent(key, { ...object, body: stored }).body))}`;
    const settled = (text: Promise<string>) => text.catch((error) => `damaged: ${damageOf(error)}`);
    return [
      await settled(opened().then((object) => textOf(object, Readable.from(object.body, { objectMode: false })))),
      await settled(opened().then((object) => textOf(object, object.body))),
    ];
  }

  async function opened(): Promise<OpenedObject> {
    const object = await new FolderArchiveReader(archive.folder).open(key);
    if (object === undefined) throw new Error('it is not there');
    return object;
  }

  it('gives what was archived', async () => {
    expect(await read()).toEqual([content, content]);
    const { body } = openContent(key, await opened());
    expect(Array.isArray(body)).toBe(size === 'small');
  });

  it.each<[string, (sound: Buffer) => Buffer]>([
    ['other content of the same length', (sound) => gzipSync(gunzipSync(sound).fill('x', 3, 5))],
    ['shorter content', (sound) => gzipSync(gunzipSync(sound).subarray(1))],
    ['longer content', (sound) => gzipSync(Buffer.concat([gunzipSync(sound), Buffer.alloc(5_000_000)]))],
    ['a cut end', (sound) => sound.subarray(0, sound.length - 5)],
    ['something behind the content', (sound) => Buffer.concat([sound, Buffer.from('more')])],
    ['zeros behind the content', (sound) => Buffer.concat([sound, Buffer.alloc(8)])],
    ['no gzip', () => Buffer.from('plain text')],
    ['nothing', () => Buffer.alloc(0)],
  ])('calls %s damaged, with the same words both ways', async (_, alter) => {
    await archive.put(key, alter(stored), metadata);
    const [streamed, whole] = await read();
    expect(streamed).toMatch(/^damaged: (its?|something) /);
    expect(whole).toBe(streamed);
  });

  it('calls stored bytes with another checksum damaged', async () => {
    await archive.store.put(key, stored, { userMetadata: metadata, checksums: { crc32: 'AAAAAA==' } });
    const problem = 'damaged: the stored bytes do not have the checksum they were written with';
    expect(await read()).toEqual([problem, problem]);
  });

  it('does not call damaged what this process could not do', () => {
    expect(() => gunzipWhole(stored, 2 ** 60, 'it is too long')).toThrow(RangeError);
  });
});
