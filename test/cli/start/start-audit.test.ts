import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newFolder } from '../../support/new-folder';
import { runCollector } from '../run-collector';
import { runStart, writeStartConfig } from '../run-start';

describe('npm start -- --audit', () => {
  const root = newFolder();
  let folder: string;
  let args: string[];

  beforeEach(async () => {
    folder = newFolder();
    args = ['--config', await writeStartConfig(root), '--folder', folder, '--audit'];
  });

  const verify = (archive: string) =>
    runCollector(['verify', '--archive', archive, '--json'], { now: new Date() }).then(({ out }) => JSON.parse(out));

  it('seals the archive, shows the mail, and verifies with the key and the hash that a person keeps; then again', async () => {
    const { code, out } = await runStart(args);
    expect(out).toMatch(/: complete after .* 4 of 4 archived[\s\S]*Seal 1 of .* is stored and signed\./);
    expect(out).toMatch(/^ {2}Subject: .*no damage seen, 1 of 1 runs complete/m);
    const [, hash] = /^ {2}SHA-256 ([0-9a-f]{64})$/m.exec(out) ?? [];
    expect(out).toContain(`--head ${hash}\n`);
    expect(out).toMatch(/collector -- verify .*--public-key [^ ]+\.public\.pem --head/);
    expect(out).toMatch(/Signatures were checked with the keys given[\s\S]*Nothing is wrong\.\n\nTry next\n/);
    expect(code).toBe(0);
    expect(await readdir(join(folder, 'seals'))).toEqual(['00000001.jsonl', '00000001.local.tsr', 'states']);
    expect(out).toMatch(/Seal 1 and all before it existed before .*, says local \(root CN=Local time stamps\)\./);
    const report = await runCollector(['report', '--archive', folder, '--out', '-'], { now: new Date() });
    expect(report.out).toMatch(
      /<li>Seal 1 and all before it existed before .*, says local \(root CN=Local time stamps\)\.<\/li>/,
    );

    // The next audit signs with the same key, and sends no second mail on the same day.
    const second = await runStart(args);
    expect(second.out).toMatch(/^Seal 2 of \S+ is stored and signed\. No mail: people get one a day/m);
    expect(second.out).toMatch(/Nothing is wrong\.\n\nTry next\n/);
    expect(second.code).toBe(0);
  });

  it('reports an incomplete run with 1, and seals it all the same', async () => {
    const { code, out } = await runStart([...args, '--fail', 'two=not-found']);
    expect(out).toMatch(
      /: incomplete after .* 2 of 4 archived[\s\S]*Seal 1 of .* is stored[\s\S]*Failing: 1 of 2 clusters/,
    );
    expect(out).toMatch(/Nothing is wrong\.\n\nTry next\n/);
    expect(code).toBe(1);
  });

  it('finds with --tamper that a manifest and all records of its run were replaced, which only the seal shows', async () => {
    const options = ['--tamper', '--fail', 'two=not-found'];
    const { code, out } = await runStart([...args.filter((arg) => arg !== '--audit'), ...options]);
    expect(code).toBe(1);
    const [, copy = '', list = ''] = /^In a copy of the archive, (\S+), these .*\n((?: {2}.*\n)+)/m.exec(out) ?? [];
    expect(out).toContain(`The forged copy stays. To remove it: rm -r ${copy}\n\nTry next\n`);
    const [manifest, ...records] = list
      .trimEnd()
      .split('\n')
      .map((line) => line.trim());
    expect(manifest).toMatch(/^manifests\//);
    expect(records).toHaveLength(3);
    const [, told = ''] = out.split('The next audit was fired, over this copy');
    expect(told).toMatch(/^ {2}Subject: .*DAMAGE/m);
    expect(told).toContain(`forged ${records[0]}`);
    const { found, findings, sound } = await verify(copy);
    expect([sound, found.forged, found.unvouched]).toEqual([0, 3, 2]);
    const kinds = findings.map(({ kind, key }: { kind: string; key: string }) => [kind, key]);
    expect(kinds.slice(0, 3)).toEqual(records.map((key) => ['forged', key]));
    expect(told).toMatch(/^forged: its SHA-256 is not the one in seal 1/m);
    expect(await verify(folder)).toMatchObject({ ok: true, findings: [] });
    await rm(join(copy, 'seals'), { recursive: true });
    expect(await verify(copy)).toMatchObject({ ok: true, sealed: null, findings: [] });
  });

  it.each([
    ['--audit with --dry-run', ['--audit', '--dry-run'], /'--audit' cannot be used with option '--dry-run'/],
  ])('refuses %s', async (_name, options, message) => {
    const { code, err } = await runStart([...args.filter((arg) => arg !== '--audit'), ...options]);
    expect(err).toMatch(message);
    expect(code).toBe(2);
    expect(await readdir(folder)).toEqual([]);
  });
});
