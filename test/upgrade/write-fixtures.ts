import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { incomingFolder, keysFolder } from '../../archive/format/folder-layout';
import { sha256Of } from '../../archive/format/seal-file';
import { newFolder } from '../support/new-folder';
import {
  archiveFile,
  configurationFile,
  configurations,
  type Expected,
  expectedFile,
  keepSigningKey,
  kept,
  planOf,
  publicKeyFile,
  runAndAudit,
  saidOf,
  signingKey,
  synthesise,
  templateFile,
} from './fixtures';

/** Clusters of the archive: `gamma` is excluded by the configuration. */
const fleet = ['alpha', 'gamma', 'beta', { uid: 'Ölfeld/3', optional: true }];
const later = ['beta', { uid: 'Ölfeld/3', optional: true }, { uid: 'epsilon', resources: ['manifest'] }];

/**
 * Writes what is kept of 1.0, from the configurations there: `npx tsx test/upgrade/write-fixtures.ts`. What is there stays, because
 * an upgrade from it is promised. Until 1.0.0 is released, `--anew` makes it anew, and puts the new sum into the test.
 */
async function writeFixtures(isAnew: boolean): Promise<void> {
  if (existsSync(archiveFile) && !isAnew) throw new Error(`${kept} is frozen; before a release, --anew makes it anew`);
  refuseMissingMembers();
  for (const name of configurations)
    writeFileSync(templateFile(name), gzipSync(JSON.stringify(synthesise(name)), { level: 9 }));
  writeFileSync(publicKeyFile, createPublicKey(signingKey()).export({ type: 'spki', format: 'pem' }));

  const folder = newFolder();
  keepSigningKey(folder);
  const faults = ['--fail', 'beta=not-found', '--fail', 'Ölfeld/3=latin-1'];
  await expectCode(1, runAndAudit(folder, fleet, ...faults));
  await expectCode(0, runAndAudit(folder, later));
  pack(folder);

  // The audit was seconds ago: an hour later nothing counts as just written.
  const saidAt = new Date(Date.now() + 3_600_000);
  const plans = Object.fromEntries(configurations.map((name) => [name, planOf(name)]));
  const expected = { plans, saidAt: saidAt.toISOString(), said: await saidOf(folder, saidAt) } as Expected;
  writeFileSync(expectedFile, `${JSON.stringify(expected, undefined, 1)}\n`);
  writeSums();
}

/** A member of a configuration that no fixture has would not be rehearsed. */
function refuseMissingMembers(): void {
  const texts = [...configurations.map(configurationFile), join(kept, 'clusters.json')].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const schema = JSON.parse(readFileSync(join(kept, '../../../collector.schema.json'), 'utf8'));
  const missing = membersOf(schema).filter((member) => !texts.some((text) => text.includes(`"${member}":`)));
  if (missing.length > 0) throw new Error(`No configuration in ${kept} has ${missing.join(', ')}: add it to one`);
}

/** The names of all members that a JSON schema knows. */
function membersOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return [...new Set([...own, ...Object.values(schema).flatMap(membersOf)])];
}

async function expectCode(expected: number, started: ReturnType<typeof runAndAudit>): Promise<void> {
  const { code, out, err } = await started;
  if (code !== expected) throw new Error(`A run for the archive ended with ${code}:\n${out}${err}`);
}

function pack(folder: string): void {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const left = [incomingFolder, keysFolder].map((name) => `--exclude=./${name}`);
  const options = ['--sort=name', '--mtime=@1795176000', ...owner, ...left];
  const { status, stdout } = spawnSync('tar', ['-c', ...options, '-C', folder, '.'], { maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`Packing ${folder} failed: tar ended with ${status}`);
  writeFileSync(archiveFile, gzipSync(stdout, { level: 9 }));
}

/** Writes the list of sums, and its own sum into the test. */
function writeSums(): void {
  const names = readdirSync(kept).filter((name) => name !== 'SHA256SUMS');
  const sums = names.sort().map((name) => `${sha256Of(readFileSync(join(kept, name)))}  ${name}\n`);
  writeFileSync(join(kept, 'SHA256SUMS'), sums.join(''));
  const test = join(__dirname, 'upgrade.test.ts');
  const frozen = `const frozen = '${sha256Of(Buffer.from(sums.join('')))}'`;
  writeFileSync(test, readFileSync(test, 'utf8').replace(/const frozen = '[0-9a-f]*'/, frozen));
}

writeFixtures(process.argv.includes('--anew')).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
