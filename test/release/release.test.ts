import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { type Bill, billOfMaterials } from '../../release/bill-of-materials';
import { licenceText } from '../../release/bundled-packages';
import { words, wordsOfPackage } from '../../release/package-words';
import { releaseNotes } from '../../release/release-notes';
import { newFolder } from '../support/new-folder';
import { Program } from '../support/program';

const root = join(__dirname, '..', '..');

describe('the notes of a release', () => {
  const changelog =
    '# Changelog\n\nWhat holds.\n\n## 1.0.0 (2027-01-10)\n\nFrozen.\n\n### More\n\nb\n\n## 1.0.0-rc\n\n## 0.9.0\n\nFirst.\n';

  it('are what stands below the heading of its version, with smaller headings', () => {
    expect(releaseNotes(changelog, '1.0.0')).toBe('Frozen.\n\n### More\n\nb\n');
    expect(releaseNotes(changelog, '0.9.0')).toBe('First.\n');
  });

  it.each(['2.0.0', '1.0.0-rc', '1.0'])('are refused where nobody has named any: %s', (version) => {
    expect(() => releaseNotes(changelog, version)).toThrow(`"## ${version}"`);
  });

  it('are there for the version of package.json', () => {
    expect(releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), packageJson.version)).toMatch(
      /^### What is promised$/m,
    );
  });
});

describe('the folder of a release', () => {
  it('is not emptied if it holds something else', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'package.json'), '{}');
    const said = await new Program('release/release.ts', ['--dry-run', '--out', folder]).end(1);
    expect(said).toBe(
      `error: Emptying ${folder} failed: it holds package.json, and no SHA256SUMS of an earlier release; name another folder, or remove it\n`,
    );
    expect(readdirSync(folder)).toEqual(['package.json']);
  });
});

describe('the bill of materials', () => {
  const component = (name: string, version: string) => ({
    ...{ name, version, 'bom-ref': `${name}@${version}` },
    properties: [{ name: 'cdx:npm:package:development', value: 'true' }],
  });
  const all: Bill = {
    metadata: { component: { name: 'folder', version: '0.9.0' } },
    components: [
      component('jest', '30.0.0'),
      component('commander', '14.0.3'),
      component('zod', '4.0.0'),
      component('commander', '2.0.0'),
    ],
    dependencies: [
      { ref: 'own@0.9.0', dependsOn: ['jest@30.0.0', 'commander@14.0.3'] },
      { ref: 'jest@30.0.0', dependsOn: ['commander@2.0.0'] },
      { ref: 'commander@14.0.3' },
    ],
  };
  const commander = { name: 'commander', version: '14.0.3', license: 'MIT', text: undefined };
  const own = { name: 'own', dependencies: { zod: '4.0.0' } };

  it('has what was bundled and what is installed, as such, and not what builds them', () => {
    const bill = billOfMaterials(all, [commander], own);
    expect(bill.components.map((one) => [one['bom-ref'], one.properties])).toEqual([
      ['commander@14.0.3', []],
      ['zod@4.0.0', []],
    ]);
    expect(bill.dependencies).toEqual([
      { ref: 'own@0.9.0', dependsOn: ['commander@14.0.3'] },
      { ref: 'commander@14.0.3', dependsOn: [] },
    ]);
    expect(bill.metadata.component).toMatchObject({ name: 'own' });
  });

  it('is refused if the lock file does not have what was bundled', () => {
    expect(() => billOfMaterials(all, [{ ...commander, version: '9.9.9' }], own)).toThrow('commander 9.9.9');
  });
});

it('the licences name each package with its text, and each text once', () => {
  const one = { name: 'a', version: '1.0.0', license: 'MIT', text: 'Permission' };
  const text = licenceText([one, { ...one, name: 'b' }, { ...one, name: 'c', license: 'MIT-0', text: undefined }]);
  expect(text).toContain('a 1.0.0 (MIT)\nb 1.0.0 (MIT)\n\nPermission\n');
  expect(text).toContain('c 1.0.0 (MIT-0)\n\nIt brings no text');
  expect(text.match(/Permission/g)).toHaveLength(1);
});

it.each([
  ['npm run collector -- runs', 'npx cluster-log-collector runs'],
  ['npm run --silent collector -- show a', 'npx cluster-log-collector show a'],
  ['npm run deploy -- --revert-drift', 'npx cdk deploy --revert-drift'],
  ['would delete what is older, and is refused without -c shortenRetention=true', 'would delete what is older'],
])('the package says what is typed there: %s', (inClone, inPackage) => {
  expect(wordsOfPackage(inClone)).toBe(inPackage);
});

it('what the package says otherwise is said somewhere: a text that was changed would go into it as it is', () => {
  const folders = ['archive', 'cli', 'infra', 'lambda', 'local'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  );
  for (const [inClone] of words)
    expect([inClone, files.some((text) => text.replaceAll(inClone, '') !== text)]).toEqual([inClone, true]);
});

describe('what GitHub reads', () => {
  const textOf = (...path: string[]) => readFileSync(join(root, '.github', ...path), 'utf8');
  const workflows = readdirSync(join(root, '.github', 'workflows')).map((file) => textOf('workflows', file));

  it('has no value in YAML that holds a colon and is not quoted: GitHub would ignore the file', () => {
    const files = readdirSync(join(root, '.github'), { recursive: true, encoding: 'utf8' });
    const lines = files.filter((file) => file.endsWith('.yml')).flatMap((file) => textOf(file).split('\n'));
    const values = lines.flatMap((line) => /^\s*(?:- )?[\w-]+: +([^"'|>\s].*)$/.exec(line)?.[1] ?? []);
    expect(values.length).toBeGreaterThan(30);
    expect(values.filter((value) => /: /.test(value.replace(/ # .*/, '')))).toEqual([]);
  });

  it('names every action by its hash, with its version beside it', () => {
    const uses = workflows.flatMap((text) => [...text.matchAll(/uses: (.*)/g)].map(([, action]) => action));
    expect(uses.length).toBeGreaterThan(5);
    expect(uses.filter((action) => !/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action ?? ''))).toEqual([]);
  });

  it('lets the job that may write run no code of this repository', () => {
    const [, publish = ''] = textOf('workflows', 'release.yml').split('\n  publish:');
    expect(publish).toContain('contents: write');
    expect(publish).not.toMatch(/checkout|npm (ci|run|install)|npx|\.ci/);
  });

  it('moves no package that a newer version would break: those that package.json pins for their platforms', () => {
    const [, ignored = ''] = textOf('dependabot.yml').split('ignore:');
    expect([...ignored.matchAll(/dependency-name: "(.*)"/g)].map(([, name]) => name)).toEqual([
      '@swc/core',
      ...Object.keys(packageJson.overrides),
    ]);
  });
});
