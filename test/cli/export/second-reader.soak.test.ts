import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newFolder } from '../../support/new-folder';
import { damageOf, hasPython, putBytes, readFolders, sealedAndStamped, verifyFolder } from './second-reader';

const archives = 500;

/** Numbers below a bound, the same for each seed. The environment variable SEED makes other archives. */
function numbersOf(seed: number): (bound: number) => number {
  let state = seed * 2_654_435_761;
  return (bound) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % bound;
  };
}

const rooms = ['logs', 'manifests', 'runs', 'configurations', 'seals'];

function keysIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((key) => rooms.some((room) => key.startsWith(`${room}/`)))
    .sort();
}

const descriptionOf = (folder: string, key: string) => join(folder, 'metadata', `${key}.json`);

function aboutOf(folder: string, key: string): Record<string, unknown> | undefined {
  const path = descriptionOf(folder, key);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>) : undefined;
}

/** @param about undefined: nothing is known of it but its bytes */
function write(folder: string, key: string, bytes: Buffer, about: ReturnType<typeof aboutOf>): void {
  putBytes(folder, key, bytes, about ?? {});
  if (about === undefined) rmSync(descriptionOf(folder, key));
}

/** Changes an archive a little. @returns what was done */
function mutate(folder: string, below: (bound: number) => number): string {
  const keys = keysIn(folder);
  const pick = (all: readonly string[]) => all[below(all.length)] ?? '';
  const room = pick(rooms);
  const own = keys.filter((key) => key.startsWith(`${room}/`));
  const key = pick(own.length > 0 ? own : keys);
  const bytes = readFileSync(join(folder, key));
  const action = below(7);
  if (action === 0) {
    rmSync(join(folder, key));
    return `remove ${key}`;
  }
  if (action <= 3) {
    const at = below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
    // As it may lie on a disk; by somebody who knows of the checksum; in a copy without it.
    if (action === 1) writeFileSync(join(folder, key), bytes);
    if (action === 2) write(folder, key, bytes, aboutOf(folder, key));
    if (action === 3) {
      writeFileSync(join(folder, key), bytes);
      rmSync(descriptionOf(folder, key), { force: true });
    }
    return `change byte ${at} of ${key}, way ${action}`;
  }
  if (action === 4) {
    const other = pick(own.length > 0 ? own : keys);
    const [one, two] = [aboutOf(folder, key), aboutOf(folder, other)];
    const others = readFileSync(join(folder, other));
    write(folder, key, others, two);
    write(folder, other, bytes, one);
    return `swap ${key} and ${other}`;
  }
  const names = [
    key.replace(/T(\d\d)/, (_, hour) => `T${String((Number(hour) + 1) % 24).padStart(2, '0')}`),
    key.replace('attempt-1', 'attempt-2').replace('cluster=alpha', 'cluster=gamma').replace('00001', '00004'),
    `${key}.old`,
    key.replace(/[0-9a-f]{64}/, (hash) => [...hash].reverse().join('')),
    `elsewhere/${key}`,
  ];
  const name = pick(names);
  if (existsSync(join(folder, name)) && statSync(join(folder, name)).isDirectory()) return 'nothing';
  write(folder, name, bytes, aboutOf(folder, key));
  return `put ${key} as ${name}`;
}

const ifPython = hasPython ? it : it.skip;

ifPython(`the second reader agrees with verify on ${archives} changed archives`, async () => {
  const { archive } = await sealedAndStamped();
  const work = newFolder();
  const names = Array.from({ length: archives }, (_, seed) => seed);
  const done = names.map((seed) => {
    const folder = join(work, String(seed));
    cpSync(archive.folder, folder, { recursive: true });
    const below = numbersOf(Number(process.env.SEED ?? 1) * archives + seed);
    return Array.from({ length: 1 + below(3) }, () => mutate(folder, below));
  });
  const second = readFolders(names.map((seed) => join(work, String(seed))));
  const differences: unknown[] = [];
  let damaged = 0;
  for (const seed of names) {
    const findings = await verifyFolder(join(work, String(seed)));
    const [ours, theirs] = [damageOf(findings), damageOf(second[seed] ?? [])];
    damaged += Number(ours.length > 0);
    const onlyOurs = ours.filter((one) => !theirs.includes(one));
    const onlyTheirs = theirs.filter((one) => !ours.includes(one));
    if (onlyOurs.length + onlyTheirs.length > 0) differences.push({ seed, done: done[seed], onlyOurs, onlyTheirs });
  }
  expect(differences).toEqual([]);
  expect(damaged).toBeGreaterThan(archives * 0.8);
  await rm(work, { recursive: true });
});
