import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sealKey } from '../../../archive/format/keys';
import { readPart } from '../../../archive/prove/part';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { copyPart } from '../../../cli/export/copy-part';
import { newFolder } from '../../support/new-folder';
import { hour, keyOf } from '../archive-fixture';
import { longAfter } from '../run-verify';
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
    expect([right.status, right.stdout, right.stderr]).toEqual([0, 'Nothing is wrong.\n', '']);
    expect(read(archive.folder, '--public-key', other).stdout).toContain(`seal-broken ${sealKey(1)}: `);
    expect([read(join(work, 'absent')).status, read(work).status]).toEqual([3, 1]);
    mkdirSync(join(work, 'empty'));
    expect(read(join(work, 'empty')).stderr).toContain('there is no run record in it');
  });

  it('lies in a part that export wrote, says that it is sound, and finds what was added', async () => {
    const { archive } = made;
    const out = join(work, 'part');
    const about = { cluster: 'beta', archive: archive.folder, exportedAt: longAfter.toISOString() };
    await copyPart(new FolderArchiveReader(archive.folder), { ...about, from: hour(8), to: hour(9) }, out);
    const judge = () => spawnSync('python3', ['check_archive.py', '.', '--part'], { cwd: out, encoding: 'utf8' });
    expect(await verifyFolder(out, await readPart(new FolderArchiveReader(out)))).toEqual([]);
    expect(judge()).toMatchObject({ status: 0, stdout: 'Nothing is wrong.\n' });
    writeFileSync(join(out, 'planted.txt'), '');
    rmSync(join(out, log));
    expect(judge().stdout).toMatch(/^missing .*\nunrecorded planted\.txt: .*\n$/);
  });
});
