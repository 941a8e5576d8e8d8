import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ArchiveFixture, type AttemptFixture, hour, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const text = 'one\r\ntwo \u001b[31m "quoted" 東京\n';
const answer =
  (version: string): AttemptFixture['answer'] =>
  (cluster, resource) => ({
    content: resource === 'log' ? logRecord(cluster, text + version) : `version: ${version}\n`,
  });

describe('show', () => {
  let archive: ArchiveFixture;

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    for (const at of [8, 9, 10]) await archive.attempt({ run: hour(at), clusters: ['alpha'], answer: answer(`${at}`) });
  });

  const show = (...args: string[]) => runCollector(['show', '--archive', archive.folder, ...args]);

  it('the newest manifest is shown as it was', async () => {
    expect(await show('alpha')).toMatchObject({ code: 0, out: 'version: 10\n' });
  });

  it("a log's text is shown byte for byte, and its record with --raw", async () => {
    expect((await show('alpha', '--resource', 'log')).out).toBe(`${text}10`);
    expect((await show('alpha', '--resource', 'log', '--raw')).out).toBe(logRecord('alpha', `${text}10`));
  });

  it('--json says which object it is instead of showing it', async () => {
    const { out } = await show('alpha', '--json');
    expect(JSON.parse(out)).toMatchObject({
      key: keyOf('manifest', 'alpha', hour(10)),
      run: '2026-11-20T10:00:00.000Z',
      fetchedAt: '2026-11-20T10:00:01.500Z',
      length: 12,
    });
  });

  it('a record without a log text shows nothing and says so', async () => {
    const content = '{"spec":{"clusterUid":"bare"}}';
    await archive.attempt({ run: hour(12), clusters: ['bare'], answer: () => ({ content }) });
    const { code, out, err } = await show('bare', '--resource', 'log');
    expect([code, out]).toEqual([0, '']);
    expect(err).toContain('no log text');
  });

  it('what is not there is trouble, and the message says what is', async () => {
    const { code, err } = await show('alpha', '--at', 'yesterday');
    expect(code).toBe(3);
    expect(err).toContain(
      'none was archived up to 2026-11-19T23:59:59.999Z; the archive has those of the runs 2026-11-20T08:00:00Z to',
    );
  });

  it('takes an older object only behind a hundred runs without one, and says which runs it did not look at, as its help does', async () => {
    const clusters = (at: number) => (at < 13 ? ['rare'] : ['alpha']);
    for (let at = 12; at < 113; at += 1)
      await archive.attempt({ run: hour(at), clusters: clusters(at), answer: answer(`${at}`) });
    await archive.attempt({ run: hour(11), clusters: ['rare'], answer: answer('11') });
    await rm(join(archive.folder, keyOf('manifest', 'rare', hour(12))));
    const show = (to: number) =>
      runCollector(['show', 'rare', '--at', hour(to).toISOString(), '--archive', archive.folder]);
    const looked = await show(111);
    expect([looked.code, looked.out]).toEqual([1, '']);
    expect(looked.err).not.toContain('Not looked at');
    const { code, out, err } = await show(112);
    expect([code, out]).toEqual([0, 'version: 11\n']);
    expect(err).toMatch(/^Not looked at: the records of 1 run .*; list --cluster reads them\.$/m);
    const help = (await runCollector(['show', '--help'])).out.replace(/\s+/g, ' ');
    expect(help).toContain('Behind 100 runs in a row that have no object of the cluster it reads no more records');
  });

  it('content that was altered is shown and called damaged', async () => {
    const key = keyOf('manifest', 'alpha', hour(10));
    await archive.damage(key);
    const { code, err } = await show('alpha');
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^damaged: .*\n  ${key}$`, 'm'));
  });

  it('a long log that was altered and is not JSON any more is called damaged too', async () => {
    const content = logRecord('long', 'some text\n'.repeat(100_000));
    await archive.attempt({ run: hour(12), clusters: ['long'], answer: () => ({ content }) });
    const key = keyOf('log', 'long', hour(12));
    const { userMetadata = {} } = (await archive.store.head(key)) ?? {};
    await archive.put(key, gzipSync(`]${content.slice(1)}`), userMetadata);
    const { code, err } = await show('long', '--resource', 'log');
    expect(code).toBe(1);
    expect(err).toContain(`damaged: its content does not have the SHA-256 its metadata says\n  ${key}\n`);
  });

  it('a terminal shows control characters and does not obey them; a pipe gets the content as it is', async () => {
    const log = ['show', 'alpha', '--resource', 'log', '--archive', archive.folder];
    const { out } = await runCollector(log, { isTerminal: true });
    expect(out).toBe('one\\r\ntwo \\u{1b}[31m "quoted" 東京\n10');
    expect((await runCollector(log)).out).toBe(`${text}10`);
  });

  it('a doubt is told on standard error, and is not a failure', async () => {
    const content = Buffer.from('{"spec":{"clusterUid":"odd","log":"gr\xf6\xdfe"}}', 'latin1');
    const doubt = 'it has bytes that are not UTF-8';
    await archive.attempt({ run: hour(12), clusters: ['odd'], answer: () => ({ content, doubt }) });
    const { code, err } = await show('odd', '--resource', 'log');
    expect(code).toBe(0);
    expect(err).toContain(`Archived with a doubt: ${doubt}.`);
    expect(JSON.parse((await show('odd', '--json')).out)).toMatchObject({ doubt });
  });

  it('an empty log is said to be empty', async () => {
    await archive.attempt({
      run: hour(12),
      clusters: ['silent'],
      answer: () => ({ content: logRecord('silent', '') }),
    });
    expect(await show('silent', '--resource', 'log')).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringMatching(/\n\(the log is empty\)\n$/),
    });
  });
});
