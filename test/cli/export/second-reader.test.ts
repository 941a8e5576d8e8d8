import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderArchiveReader } from '../../../cli/archive/folder-archive-reader';
import { copyPart } from '../../../cli/export/copy-part';
import { sealKey } from '../../../lambda/archive/archive-layout';
import { readPart } from '../../../lambda/verify/part';
import { sha256Of } from '../../../lambda/verify/seals/seal-file';
import { issueCertificate, ofIssuer } from '../../../local/stamp-authority/stamp-certificates';
import { hour, keyOf } from '../archive-fixture';
import { longAfter } from '../run-verify';
import { signingKeys } from '../seal-fixture';
import { hasPython, runPython, sealedAndStamped, verifyFolder } from './second-reader';

const log = keyOf('log', 'beta', hour(9));

(hasPython ? describe : describe.skip)('the second reader', () => {
  let work: string;
  let made: Awaited<ReturnType<typeof sealedAndStamped>>;

  beforeAll(async () => {
    made = await sealedAndStamped();
    work = await mkdtemp(join(tmpdir(), 'collector-second-reader-'));
  });
  afterAll(async () => {
    for (const folder of [work, made.archive.folder]) await rm(folder, { recursive: true });
  });

  const read = (...args: string[]) => runPython('sys.exit(check_archive.main())', args);

  it('trusts the keys, hashes and roots that it is given, and no others', async () => {
    const { archive, seals, root } = made;
    const [own, other, roots] = ['own.pem', 'other.pem', 'root.pem'].map((name) => join(work, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(own, seals.publicKey);
    writeFileSync(other, signingKeys().publicKey.export({ format: 'pem', type: 'spki' }));
    // An authority that renewed its root has two of one name.
    const valid = { validFrom: new Date('2026-01-01'), validTo: new Date('2096-01-01') };
    const renewed = issueCertificate({ name: 'Root of one', ...valid, extensions: ofIssuer() });
    writeFileSync(roots, `${renewed.certificate.toString()}${root}`);
    const head = sha256Of(Buffer.from(readFileSync(join(archive.folder, sealKey(2)), 'utf8').split('\n')[0] ?? ''));
    const right = read(archive.folder, '--public-key', own, '--head', head);
    expect([right.status, right.stdout, right.stderr]).toEqual([0, 'Nothing is wrong.\n', '']);
    expect(read(archive.folder, '--public-key', other).stdout).toContain(`seal-broken ${sealKey(1)}: `);
    expect(read(archive.folder, '--head', 'a'.repeat(64)).stdout).toContain('seal-broken seals/*: ');
    // Nobody has stamped the newest seal for three days.
    expect(read(archive.folder, '--tsa-ca', roots).stdout).toMatch(new RegExp(`^seal-broken ${sealKey(3)}: .*\n$`));
    expect([read(join(work, 'absent')).status, read(work).status]).toEqual([3, 1]);
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
