import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { objectKey } from '../../../lambda/archive/archive-layout';
import { ArchiveFixture, type AttemptFixture, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 20, at));
const text = 'one\r\ntwo \u001b[31m "quoted" 東京\n';
const answer =
  (version: string): AttemptFixture['answer'] =>
  (cluster, resource) => ({
    content: resource === 'log' ? logRecord(cluster, text + version) : `version: ${version}\n`,
  });

let archive: ArchiveFixture;

beforeEach(async () => {
  archive = await ArchiveFixture.create();
  for (const at of [8, 9, 10]) await archive.attempt({ run: hour(at), clusters: ['alpha'], answer: answer(`${at}`) });
});

const show = (...args: string[]) => runCollector(['show', '--archive', archive.folder, ...args]);

test('the newest manifest is shown as it was', async () => {
  expect(await show('alpha')).toEqual({ code: 0, out: 'version: 10\n', err: '' });
});

test("a log's text is shown byte for byte, and its record with --raw", async () => {
  expect((await show('alpha', '--resource', 'log')).out).toBe(`${text}10`);
  expect((await show('alpha', '--resource', 'log', '--raw')).out).toBe(logRecord('alpha', `${text}10`));
});

test('--at means the newest fetched at or before that time', async () => {
  expect((await show('alpha', '--at', '2026-11-20T09:00:01.500Z')).out).toBe('version: 9\n');
  expect((await show('alpha', '--at', '2026-11-20T09:00:01.499Z')).out).toBe('version: 8\n');
  expect((await show('alpha', '--at', '2026-11-20')).out).toBe('version: 10\n');
});

test('a run that was completed late counts from when it was fetched, not from its name', async () => {
  await archive.attempt({ run: hour(7), startedAt: hour(11), clusters: ['alpha'], answer: answer('late') });
  expect((await show('alpha')).out).toBe('version: late\n');
  expect((await show('alpha', '--at', '2026-11-20T10:30')).out).toBe('version: 10\n');
  expect((await show('alpha', '--at', '2026-11-20T07:30')).code).toBe(3);
});

test('--json says which object it is instead of showing it', async () => {
  const { out } = await show('alpha', '--json');
  expect(JSON.parse(out)).toMatchObject({
    key: objectKey({ resource: 'manifest', cluster: 'alpha', run: hour(10), compression: 'gzip' }),
    run: '2026-11-20T10:00:00.000Z',
    fetchedAt: '2026-11-20T10:00:01.500Z',
    length: 12,
  });
});

test('a doubt is told on standard error, and is no failure', async () => {
  const content = Buffer.from('{"spec":{"clusterUid":"odd","log":"gr\xf6\xdfe"}}', 'latin1');
  await archive.attempt({
    run: hour(12),
    clusters: ['odd'],
    answer: () => ({ content, doubt: 'spec.log has bytes that are not UTF-8' }),
  });
  const { code, err } = await show('odd', '--resource', 'log');
  expect(code).toBe(0);
  expect(err).toContain('Archived with a doubt: spec.log has bytes that are not UTF-8.');
  expect(JSON.parse((await show('odd', '--json')).out)).toMatchObject({
    doubt: 'spec.log has bytes that are not UTF-8',
  });
});

test('a record without a log text shows nothing and says so', async () => {
  await archive.attempt({
    run: hour(12),
    clusters: ['bare'],
    answer: () => ({ content: '{"spec":{"clusterUid":"bare"}}' }),
  });
  const { code, out, err } = await show('bare', '--resource', 'log');
  expect([code, out]).toEqual([0, '']);
  expect(err).toContain('no log text');
});

test('a cluster that is not there is trouble, and what was looked for is named', async () => {
  const { code, err } = await show('gamma', '--at', '2026-11-20');
  expect(code).toBe(3);
  expect(err).toContain('manifest of cluster gamma failed: none was fetched at or before 2026-11-20 23:59:59.999Z');
});

test('content that was altered is shown and called damaged', async () => {
  const key = objectKey({ resource: 'manifest', cluster: 'alpha', run: hour(10), compression: 'gzip' });
  const path = join(archive.folder, key);
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 6) ^ 1, bytes.length - 6);
  await writeFile(path, bytes);
  const { code, err } = await show('alpha');
  expect(code).toBe(1);
  expect(err).toContain(`damaged: ${key}`);
});
