import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sealKey } from '../../../archive/format/keys';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { copyPart } from '../../../cli/export/copy-part';
import { newFolder } from '../../support/new-folder';
import { hour, keyOf } from '../archive-fixture';
import { signingKeys } from '../seal-fixture';
import { hasPython, runPython, sealedAndStamped, verifyFolder } from './second-reader';

const log = keyOf('log', 'beta', hour(9));

(hasPython ? describe : describe.skip)('the second reader', () => {
  const work = newFolder();
  let made: Awaited<ReturnType<typeof sealedAndStamped>>;

  beforeAll(async () => {
    made = await sealedAndStamped();
  });

  const read = (...args: string[]) => runPython('sys.exit(check_archive.main())', args);

  it('trusts the key that it is given, and no other', () => {
    const { archive, seals } = made;
    const [own, other] = [join(work, 'own.pem'), join(work, 'other.pem')];
    writeFileSync(own, seals.publicKey);
    writeFileSync(other, signingKeys().publicKey.export({ format: 'pem', type: 'spki' }));
    const right = read(archive.folder, '--public-key', own);
    expect([right.status, right.stderr]).toEqual([0, '']);
    expect(right.stdout).toMatch(/^Archive of all clusters, all runs: 4 runs, 6 run records, 24 objects, 3 seals\.$/m);
    expect(right.stdout).toMatch(
      /^Signatures were checked with the keys given\.\nBy the seals \d+ runs were due; the seals call 0 absent\.$/m,
    );
    expect(right.stdout).toMatch(/^Nothing is wrong in what was judged\.\n$/m);
    expect(read(archive.folder).stdout).toContain("with the archive's own key, which proves little");
    expect(read(archive.folder, '--public-key', other).stdout).toContain(`seal-broken ${sealKey(1)}: `);
    expect([read(join(work, 'absent')).status, read(work).status]).toEqual([3, 1]);
    mkdirSync(join(work, 'empty'));
    expect(read(join(work, 'empty')).stderr).toContain('there is no run record in it');
  });

  it('counts one run and one record as one', async () => {
    const [out, part] = [join(work, 'one'), { cluster: 'beta', from: hour(9), to: hour(9) }];
    await copyPart(new FolderArchiveReader(made.archive.folder), part, out);
    const times = ['--from', hour(9).toISOString(), '--to', hour(9).toISOString()];
    const { stdout } = read(out, '--part', '--cluster', 'beta', ...times);
    expect(stdout.split('\n')[0]).toContain(': 1 run, 1 run record, 2 objects, 3 seals.');
  });

  it('lies in a part that export wrote, says that it is sound, and finds what was added', async () => {
    const { archive } = made;
    const out = join(work, 'part');
    const part = { cluster: 'beta', from: hour(8), to: hour(9) };
    await copyPart(new FolderArchiveReader(archive.folder), part, out);
    const judge = (to = hour(9), ...others: string[]) => {
      const asked = ['--part', '--cluster', 'beta', '--from', hour(8).toISOString(), '--to', to.toISOString()];
      return spawnSync('python3', ['check_archive.py', '.', ...asked, ...others], { cwd: out, encoding: 'utf8' });
    };
    expect(await verifyFolder(out, part)).toEqual([]);
    const right = judge();
    expect([right.status, right.stdout.split('\n')[0]]).toEqual([
      0,
      `PART of cluster beta, all runs from ${hour(8).toISOString()} to ${hour(9).toISOString()}: 2 runs, 3 run records, 4 objects, 3 seals.`,
    ]);
    expect(right.stdout).toContain('Not seen: how many runs were due in this period');
    // What was asked for decides, not what was sent.
    expect(judge(hour(8)).status).toBe(1);
    expect(judge(hour(10))).toMatchObject({ status: 1, stdout: expect.stringMatching(/^missing runs\/.*T100000/m) });
    const unknown = judge(hour(9), '--head', 'a'.repeat(64));
    expect([unknown.status, unknown.stdout]).toEqual([
      1,
      expect.stringContaining('seal-broken seals/*: no right seal'),
    ]);
    expect(spawnSync('python3', ['check_archive.py', '.', '--part'], { cwd: out }).status).toBe(2);
    writeFileSync(join(out, 'planted.txt'), '');
    rmSync(join(out, log));
    expect(judge().stdout).toMatch(/^missing .*\nunrecorded planted\.txt: .*\n$/m);
  });
});
