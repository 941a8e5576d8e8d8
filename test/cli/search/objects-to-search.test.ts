import { openArchive } from '../../../cli/archive/open-archive';
import { RunReader } from '../../../cli/archive/run-reader';
import { linePattern } from '../../../cli/search/line-pattern';
import { ObjectsToSearch } from '../../../cli/search/objects-to-search';
import { ArchiveReadError } from '../../../lambda/verify/archive-reader';
import { ArchiveFixture, hour } from '../archive-fixture';

describe('joining the logs to search', () => {
  it('goes on with the other clusters if one cannot be read, and says so', async () => {
    const fixture = await ArchiveFixture.ofLogs(['one of 0\n', 'one of 1\n'], ['bad', 'good']);
    const archive = await openArchive(fixture.folder);
    const open = archive.open.bind(archive);
    archive.open = (key) => {
      if (key.startsWith('logs/cluster=bad/')) throw new ArchiveReadError('Reading it failed: it is far away');
      return open(key);
    };
    const objects = new ObjectsToSearch(new RunReader({ archive, now: hour(2), isLive: false }), {
      resource: 'log',
      selection: { last: 2 },
    });
    const found: string[] = [];
    for await (const { cluster, run } of objects.listJoined(linePattern('one', {})))
      found.push(`${cluster} ${run.getUTCHours()}`);
    expect(found).toEqual(['good 0', 'good 1']);
    expect(objects.notJoined).toEqual([{ cluster: 'bad', problem: 'Reading it failed: it is far away' }]);
  });
});
