import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../infra/function-bundle';
import packageJson from '../package.json';
import { billOfMaterials } from './bill-of-materials';
import { buildPackage } from './build-package';
import { releaseNotes } from './release-notes';

/** Names every other file of a release, with its hash. */
const sumsFile = 'SHA256SUMS';

/**
 * `npm run release`: makes everything that a release consists of, and publishes nothing. The workflow of the same name does that,
 * for a tag. `--dry-run` does the same for any commit.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string', default: '.release' } },
  });
  const out = resolve(projectRoot, values.out);
  refuseOtherFiles(out, values.out);
  const { name, version } = packageJson;
  const tag = `v${version}`;
  const notes = releaseNotes(readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8'), version);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: projectRoot, encoding: 'utf8' }).trim();
  const [changes, tags] = [git('status', '--porcelain'), git('tag', '--points-at', 'HEAD').split('\n')];
  if (!values['dry-run'] && (changes !== '' || !tags.includes(tag)))
    throw new ReleaseError(
      `Releasing ${tag} failed: the checkout has ${changes === '' ? `no tag ${tag}` : 'changes that are in no commit'}; ` +
        '--dry-run makes the same files of any checkout',
    );

  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const bundled = await buildPackage();
  const npm = (...args: string[]) =>
    execFileSync('npm', args, { cwd: projectRoot, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const [packed] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', out)) as [Packed];
  const all = JSON.parse(npm('sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'));
  const bill = billOfMaterials(all, bundled, packageJson);
  const files = {
    [packed.filename]: readFileSync(join(out, packed.filename)),
    'sbom.cdx.json': Buffer.from(`${JSON.stringify(bill, undefined, 2)}\n`),
    'NOTES.md': Buffer.from(notes),
  };
  const sums = Object.entries(files).map(
    ([file, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`,
  );
  for (const [file, bytes] of Object.entries({ ...files, [sumsFile]: Buffer.from(sums.join('')) }))
    writeFileSync(join(out, file), bytes);

  process.stdout.write(
    `${[
      `${name} ${version}, commit ${git('rev-parse', 'HEAD')}${changes === '' ? '' : ' and changes'}, in ${values.out}:`,
      `  ${packed.filename}: ${packed.entryCount} files, ${inMegabytes(packed.size)} packed, ${inMegabytes(packed.unpackedSize)} unpacked`,
      `  sbom.cdx.json: ${bill.components.length} packages, ${bundled.length} of them bundled`,
      `  NOTES.md, ${sumsFile}`,
      ...missing().map((what) => `Missing: ${what}`),
      `Not published: .github/workflows/release.yml does that for the tag ${tag}, once there is a secret NPM_TOKEN.`,
    ].join('\n')}\n`,
  );
}

/** The folder is emptied: it must not be one that somebody has put something else into, such as the checkout itself. */
function refuseOtherFiles(out: string, named: string): void {
  const held = existsSync(out) ? readdirSync(out) : [];
  if (held.length > 0 && !held.includes(sumsFile))
    throw new ReleaseError(
      `Emptying ${named} failed: it holds ${held[0]}, and no ${sumsFile} of an earlier release; name another folder, or remove it`,
    );
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

/** A release cannot be made as it is. The message says what to do. */
class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/** What only the owner of the package can name. npm compares the repository with the one that a provenance names. */
const ofOwner = {
  repository: 'npm refuses a provenance without it',
  bugs: 'people would not know where to report',
};

function missing(): string[] {
  return Object.entries(ofOwner)
    .filter(([member]) => !(member in packageJson))
    .map(([member, why]) => `"${member}" in package.json, which the owner has to name: ${why}`);
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

main().catch((error: unknown) => {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exitCode = 1;
});
