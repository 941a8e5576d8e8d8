import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { RunReader } from '../../../cli/archive/run-reader';
import { ArchiveFixture, answerBut, hour, plainAnswer } from '../archive-fixture';

describe('who is stale', () => {
  it('is said once all selected runs are read, and not before: the cluster that fails may come in the next one', async () => {
    const archive = await ArchiveFixture.create();
    const clusters = ['a', 'b'];
    await archive.attempt({ run: hour(1), clusters, answer: plainAnswer });
    await archive.attempt({ run: hour(2), clusters, answer: answerBut({ b: { failed: '503 Service Unavailable' } }) });
    const now = hour(3);
    const reader = new RunReader({ archive: new FolderArchiveReader(archive.folder), now, isLive: false });
    for await (const _run of reader.select({}))
      await expect(reader.stale(now)).rejects.toThrow('before all selected runs');
    expect((await reader.stale(now)).stale.map(({ cluster }) => cluster)).toEqual(['b']);
  });
});
