import { gzipStreams } from '../../support/gzip-streams';
import { ArchiveFixture, type AttemptFixture, hour, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

/** Readers must not depend on who compressed an object. Half of the text is not in the first member of several. */
it.each(
  Object.keys(gzipStreams('')),
)("an archive in the service's own gzip, %s, is shown, compared, searched and verified", async (form) => {
  const text = (at: number) => `one\r\ntwo 東京\n${'a longer line\n'.repeat(3000)}at ${at}\n`;
  const archive = await ArchiveFixture.create();
  for (const at of [8, 9]) {
    const answer: AttemptFixture['answer'] = (cluster, resource) => {
      const content = resource === 'log' ? logRecord(cluster, text(at)) : text(at);
      return { content, coded: gzipStreams(content)[form] };
    };
    await archive.attempt({ run: hour(at), clusters: ['alpha'], answer });
  }
  const collector = (...args: string[]) => runCollector([...args, '--archive', archive.folder]);
  const log = ['--resource', 'log'];
  expect(await collector('show', 'alpha')).toMatchObject({ code: 0, out: text(9) });
  expect(await collector('show', 'alpha', ...log)).toMatchObject({ code: 0, out: text(9) });
  expect((await collector('show', 'alpha', ...log, '--raw')).out).toBe(logRecord('alpha', text(9)));
  expect((await collector('diff', 'alpha', ...log)).out.split('\n').slice(-3)).toEqual(['-at 8', '+at 9', '']);
  expect(await collector('grep', 'at 9', '-c')).toMatchObject({ code: 0, out: expect.stringContaining('alpha') });
  expect(await collector('verify')).toMatchObject({ code: 0, out: expect.stringContaining('4 objects sound') });
});
