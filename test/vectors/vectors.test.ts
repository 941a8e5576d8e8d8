import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FindingKind } from '../../archive/format/finding';
import { sha256Of } from '../../archive/format/seal-file';
import { readChain } from '../../archive/prove/seals/read-chain';
import { FolderArchiveReader } from '../../archive/read/folder-archive-reader';
import { damageOf, hasPython, readFolders } from '../cli/export/second-reader';
import { newFolder } from '../support/new-folder';
import { changes, saidOf, vectorPart } from './write-vectors';

/** Of SHA256SUMS: whoever changes a vector breaks the promise to read what version 1 wrote. A new vector is a new sum. */
const frozen = 'd9a322f3cccf6f475634834d5d33020112a9d23b6b70b8eebdca25c118554a4b';

describe('the vectors of version 1 of the format', () => {
  const named = readFileSync(join(__dirname, 'SHA256SUMS'), 'utf8').split('\n').filter(Boolean);
  const sums = new Map(named.map((line) => [line.slice(66), line.slice(0, 64)] as const));
  const names = [...sums.keys()].filter((name) => name.endsWith('.tar.gz')).map((name) => name.slice(0, -7));
  const expected = (name: string) => JSON.parse(readFileSync(join(__dirname, `${name}.json`), 'utf8'));
  const work = newFolder();

  beforeAll(() => {
    for (const name of names) {
      mkdirSync(join(work, name));
      const { status } = spawnSync('tar', ['-xzf', join(__dirname, `${name}.tar.gz`), '-C', join(work, name)]);
      if (status !== 0) throw new Error(`Unpacking ${name} failed: tar ended with ${status}`);
    }
  });

  it('are those that were frozen, and no others', () => {
    expect(sha256Of(Buffer.from(named.join('\n')))).toBe(frozen);
    const files = readdirSync(__dirname).filter((name) => /\.(?:json|tar\.gz)$/.test(name));
    expect(files.sort()).toEqual([...sums.keys()]);
    for (const [name, sum] of sums) expect([name, sha256Of(readFileSync(join(__dirname, name)))]).toEqual([name, sum]);
  });

  it.each(names)('%s: verify says what it said then', async (name) => {
    const said = await saidOf(join(work, name));
    expect(said).toMatchObject(expected(name));
    expect(said.findings).toEqual(expect.arrayContaining((changes[name] ?? []).slice(1)));
  });

  it('every chain can be printed, stored and compared', async () => {
    let seals = 0;
    for (const name of names) {
      const chain = await readChain(new FolderArchiveReader(join(work, name)), {}, () => undefined);
      seals += chain.all.length;
      for (const seal of chain.all) expect([name, JSON.parse(JSON.stringify(seal))]).toEqual([name, seal]);
    }
    expect(seals).toBeGreaterThanOrEqual(67);
  });

  (hasPython ? it : it.skip)('the second reader finds the same', () => {
    const saidOf = (name: string) =>
      (expected(name).findings as string[]).map((finding) => {
        const [kind, ...key] = finding.split(' ');
        return { kind: kind as FindingKind, key: key.join(' ') };
      });
    const judged = (found: Parameters<typeof damageOf>[0]) => [
      ...damageOf(found),
      ...found.filter(({ kind }) => kind === 'pending').map(({ key }) => `pending ${key}`),
    ];
    for (const isPart of [false, true]) {
      const own = names.filter((name) => name.startsWith('part') === isPart);
      const found = readFolders(
        own.map((name) => join(work, name)),
        isPart ? vectorPart : undefined,
      );
      for (const [at, name] of own.entries())
        expect([name, judged(found[at] ?? [])]).toEqual([name, judged(saidOf(name))]);
    }
  });
});
