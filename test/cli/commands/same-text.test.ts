import { ArchiveFixture, hour, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

describe('an equal text of a log, known from records alone', () => {
  let archive: ArchiveFixture;

  // The record of the log is another in each of the three runs, its text only in the last. No content can be read.
  beforeAll(async () => {
    archive = await ArchiveFixture.create();
    for (const [at, text] of Object.entries({ 8: 'one\n', 9: 'one\n', 10: 'one\ntwo\n' })) {
      const run = hour(Number(at));
      const content = { log: logRecord('c', text, `state of ${at}`), manifest: 'kind: A\n' };
      await archive.attempt({ run, clusters: ['c'], answer: (_, resource) => ({ content: content[resource] }) });
      const key = keyOf('log', 'c', run);
      await archive.put(key, Buffer.from('x'), (await archive.store.head(key))?.userMetadata ?? {});
    }
  });

  const collector = (...args: string[]) => runCollector([...args, '--archive', archive.folder]);

  it('is not a change in the history of the log', async () => {
    const { out } = await collector('history', 'c', '--resource', 'log', '--json');
    expect(JSON.parse(out)).toMatchObject([
      { run: hour(8).toISOString(), before: null },
      { run: hour(10).toISOString(), change: 'changed' },
    ]);
  });

  it('is not a change in the history of the fleet', async () => {
    const { out } = await collector('history', '--all', '--resource', 'log');
    expect(out).toBe(`${short(10)} changed: 1 cluster: c\n${short(8)} first: 1 cluster: c\n`);
  });
});

const short = (at: number) => iso(at).replace('.000Z', 'Z');

function iso(at: number): string {
  return hour(at).toISOString();
}
