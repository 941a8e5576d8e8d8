import { gzipStreams } from '../../support/gzip-streams';
import { ArchiveFixture, type AttemptFixture, hour, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

/** Readers must not depend on who compressed an object. Half of the text is not in the first member of several. */
describe.each(Object.keys(gzipStreams('')))("an archive in the service's own gzip, %s", (form) => {
  const text = (at: number) => `one\r\ntwo 東京\n${'a longer line\n'.repeat(3000)}at ${at}\n`;
  const answer =
    (at: number): AttemptFixture['answer'] =>
    (cluster, resource) => {
      const content = resource === 'log' ? logRecord(cluster, text(at)) : text(at);
      return { content, coded: cluster === 'by-service' ? gzipStreams(content)[form] : undefined };
    };
  let archive: ArchiveFixture;
  const collector = (command: string, ...args: string[]) =>
    runCollector([command, '--archive', archive.folder, ...args]);

  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    for (const at of [8, 9])
      await archive.attempt({ run: hour(at), clusters: ['by-service', 'by-collector'], answer: answer(at) });
  });

  it.each(['by-service', 'by-collector'])('is shown: %s', async (cluster) => {
    expect(await collector('show', cluster)).toMatchObject({ code: 0, out: text(9) });
    expect((await collector('show', cluster, '--resource', 'log')).out).toBe(text(9));
    expect((await collector('show', cluster, '--resource', 'log', '--raw')).out).toBe(logRecord(cluster, text(9)));
  });

  it('is compared', async () => {
    const { code, out } = await collector('diff', 'by-service', '--resource', 'log');
    expect(code).toBe(1);
    expect(out.split('\n').slice(-3)).toEqual(['-at 8', '+at 9', '']);
  });

  it('is searched', async () => {
    const { code, out } = await collector('grep', 'at 9', '--json');
    expect(code).toBe(0);
    for (const cluster of ['by-service', 'by-collector']) expect(out).toContain(cluster);
  });

  it('is verified', async () => {
    const { code, out } = await collector('verify', '--json');
    expect(JSON.parse(out)).toMatchObject({ findings: [] });
    expect(code).toBe(0);
  });
});
