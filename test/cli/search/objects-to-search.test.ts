import { ArchiveReadError } from '../../../archive/read/archive-reader';
import { openArchive } from '../../../cli/archive/open-archive';
import { RunReader } from '../../../cli/archive/run-reader';
import { linePattern } from '../../../cli/search/line-pattern';
import { ObjectsToSearch } from '../../../cli/search/objects-to-search';
import { ArchiveFixture, hour } from '../archive-fixture';

describe('joining the logs to search', () => {
  it('searches whole what cannot be read to be joined: then it is said why', async () => {
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
    for await (const { cluster, run, parts } of objects.listJoined(linePattern('one', {})))
      found.push(`${cluster} ${run.getUTCHours()} ${parts === undefined ? 'whole' : `from ${parts.lines}`}`);
    expect(found).toEqual(['bad 0 whole', 'bad 1 whole', 'good 0 from 0', 'good 1 from 0']);
  });
});
