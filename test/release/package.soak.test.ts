import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import packageJson from '../../package.json';
import { hasPython } from '../cli/export/second-reader';
import { healthy, runAt } from '../cli/operator-archive';
import { runCollector } from '../cli/run-collector';
import { sealedOperatorArchive } from '../cli/sealed-operator-archive';
import { newFolder } from '../support/new-folder';

const root = join(__dirname, '..', '..');
const run = promisify(execFile);

/** Runs a program in a folder, as a new user would: without the settings of the test runner. */
async function typed(folder: string, program: string, ...args: string[]): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await run(program, args, { cwd: folder, env, maxBuffer: 2 ** 26 }).catch((error) => {
    throw new Error(`${program} ${args.join(' ')} failed: ${error.message}\n${error.stdout}`);
  });
  return stdout;
}

/** Installs from npm's registry, and from its cache what it has. */
const install = (folder: string, ...packages: string[]) =>
  typed(folder, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages);

/** The files below a folder, by path and size. */
function filesIn(folder: string): Map<string, number> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [path.slice(folder.length + 1), statSync(path).size]));
}

/** In milliseconds. npm downloads CDK if its cache is empty. */
const patience = 900_000;

describe('the packed file', () => {
  const out = newFolder();
  const packed = join(out, `${packageJson.name}-${packageJson.version}.tgz`);
  /** A folder that had nothing in it before the packed file was installed. */
  const reader = newFolder();
  const installed = join(reader, 'node_modules', packageJson.name);
  const collector = (...args: string[]) => typed(reader, 'npx', '--no-install', 'cluster-log-collector', ...args);
  let said: string;

  beforeAll(async () => {
    said = await typed(root, 'npm', 'run', '--silent', 'release', '--', '--dry-run', '--out', out);
    writeFileSync(join(reader, 'package.json'), '{ "private": true }');
    await install(reader, packed);
  }, patience);

  it('comes with checksums, notes, and a list of what is in it, and with what keeps it from being published', () => {
    for (const line of readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
      const [sum, file = ''] = line.split('  ');
      expect(
        createHash('sha256')
          .update(readFileSync(join(out, file)))
          .digest('hex'),
      ).toBe(sum);
    }
    expect(readFileSync(join(out, 'NOTES.md'), 'utf8')).toMatch(/^### What is promised$/m);
    const { components } = JSON.parse(readFileSync(join(out, 'sbom.cdx.json'), 'utf8'));
    const names = components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['zod', 'commander', '@aws-sdk/client-s3', 're2js']));
    expect(names.filter((name: string) => /^(jest|typescript|esbuild|tsx|aws-cdk.*)$/.test(name))).toEqual([]);
    expect(said).toMatch(/^Not published: .* once there is a secret NPM_TOKEN/m);
    for (const member of ['repository', 'bugs'])
      expect(said.includes(`Missing: "${member}"`)).toBe(!(member in packageJson));
  });

  it('installs in less than 15 MB, without CDK and what builds it', () => {
    const folder = join(reader, 'node_modules');
    const files = filesIn(folder);
    const bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeLessThan(15e6);
    const page = readFileSync(join(installed, 'docs', 'own-app.md'), 'utf8');
    expect(page).toContain(`Installed, it has ${Math.round(bytes / 1e6)} MB`);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual([packageJson.name, 'zod']);
  });

  it('has the licences of what is bundled, the schema and the pages, and nothing that only a clone needs', () => {
    const files = [...filesIn(installed).keys()];
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'collector.schema.json', 'docs/proof.md', 'dist/index.cjs']),
    );
    expect(
      files.filter((file) => /launch|(?<!\.d)\.ts$|^(test\/(?!vectors\/)|bench|local|lambda)\//.test(file)),
    ).toEqual([]);
    const licences = readFileSync(join(installed, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['@aws-sdk/client-s3', 'zod', 'commander', 're2js']) expect(licences).toMatch(`${name} `);
  });

  (hasPython ? it : it.skip)('has the conformance suite of the format, which its page says how to run', async () => {
    const page = readFileSync(join(installed, 'docs', 'format.md'), 'utf8');
    const suite = readdirSync(join(installed, 'test', 'vectors'));
    const archives = suite.filter((file) => file.endsWith('.tar.gz'));
    expect(suite.sort()).toEqual(
      ['SHA256SUMS', ...archives, ...archives.map((file) => file.replace('.tar.gz', '.json'))].sort(),
    );
    expect(page).toContain(`${archives.length} archives of about`);
    const [, script = ''] = /```sh\n(.*?)```/s.exec(page) ?? [];
    const lines = (await typed(installed, 'bash', '-c', script)).trimEnd().split('\n');
    expect(lines).toHaveLength(archives.length);
    expect(lines.filter((line) => !/: (\d), verify: \1$/.test(line))).toEqual(['unreadable: 0, verify: 3']);
  });

  it('tells nobody to type what only works in a clone', () => {
    const built = [...filesIn(join(installed, 'dist')).keys()].filter((file) => /\.[cm]?js$/.test(file));
    const wrong = built.flatMap((file) =>
      (readFileSync(join(installed, 'dist', file), 'utf8').match(/.{0,60}npm (run|start|ci|test)\b.{0,40}/g) ?? []).map(
        (text) => `${file}: ${text}`,
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('says which commit it was packed from', async () => {
    const commit = (await typed(root, 'git', 'rev-parse', '--short=12', 'HEAD')).trim();
    expect(await collector('--version')).toMatch(new RegExp(`^${packageJson.version} \\(${commit}(\\+changes)?\\)\n$`));
    expect(await typed(reader, 'npx', '--no-install', 'collector', '--help')).toMatch(
      /^Usage: npx cluster-log-collector /,
    );
  });

  describe('in the hands of an auditor', () => {
    const work = newFolder();
    const part = join(work, 'part');
    const key = join(work, 'seals-public-key.pem');
    let archive: string;

    beforeAll(async () => {
      const sealed = await sealedOperatorArchive();
      archive = sealed.archive.folder;
      const exported = await runCollector(['export', '--archive', archive, '--cluster', healthy, '--out', part], {
        now: runAt(61),
      });
      expect([exported.code, exported.err]).toEqual([0, expect.stringContaining('vouched for')]);
      writeFileSync(key, sealed.seals.publicKey);
    });

    const verify = () => collector('verify', '--archive', part, '--part', '--cluster', healthy, '--public-key', key);

    it('checks an export with a public key, and finds one changed byte', async () => {
      expect(await verify()).toContain('Signatures were checked with the keys given.\nNothing is damaged.');
      const [object = ''] = [...filesIn(join(part, 'logs')).keys()];
      const path = join(part, 'logs', object);
      const content = readFileSync(path);
      content.writeUInt8(content.readUInt8(20) ^ 1, 20);
      writeFileSync(path, content);
      await expect(verify()).rejects.toThrow(/damaged|altered/);
    });

    it('finds what it reads beside itself: the report, and an export with its own check', async () => {
      await collector('report', '--archive', archive, '--out', join(work, 'report.html'));
      expect(readFileSync(join(work, 'report.html'), 'utf8')).toContain('<style>');
      await collector('export', '--archive', archive, '--cluster', healthy, '--out', join(work, 'again'));
      expect(existsSync(join(work, 'again', 'check_archive.py'))).toBe(true);
    });
  });

  it('is a library with types', async () => {
    const code = `
      import { FolderArchiveReader, firstOf, parseRunRecordKey } from 'cluster-log-collector/archive';
      const reader: FolderArchiveReader = new FolderArchiveReader('.');
      // @ts-expect-error: a reader needs a folder
      new FolderArchiveReader(1);
      void firstOf(reader.list('runs/')).then((first) => process.stdout.write(String(first?.key)));
      void parseRunRecordKey;
    `;
    writeFileSync(join(reader, 'own.ts'), code);
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    const types = join(root, 'node_modules', '@types');
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--typeRoots', types];
    await typed(reader, tsc, ...options, 'own.ts');
    expect(await typed(reader, process.execPath, 'own.js')).toBe('undefined');
  });

  it(
    'puts the collector into an app as `cdk init` makes it, which passes cdk-nag',
    async () => {
      const app = join(newFolder(), 'own-app');
      mkdirSync(app);
      const cdk = join(root, 'node_modules', 'aws-cdk', 'bin', 'cdk');
      await typed(app, process.execPath, cdk, 'init', 'app', '--language', 'typescript', '--generate-only');
      const { 'aws-cdk-lib': lib, constructs, 'cdk-nag': nag } = packageJson.devDependencies;
      await install(app, packed, `aws-cdk-lib@${lib}`, `constructs@${constructs}`, `cdk-nag@${nag}`);
      writeFileSync(
        join(app, 'bin', 'own-app.ts'),
        `import { App, Stack, Validations } from 'aws-cdk-lib';
       import { AwsSolutionsChecks } from 'cdk-nag';
       import { ClusterLogCollector } from 'cluster-log-collector';

       const app = new App();
       const stack = new Stack(app, 'Platform');
       const logs = new ClusterLogCollector(stack, 'ClusterLogs', {
         name: 'cluster-logs',
         service: { baseUrl: 'https://platform.example.com' },
         clusters: ['uid-1', { uid: 'uid-2', projectUid: 'project-b' }],
         schedule: { expression: 'cron(0 * * * ? *)' },
         audit: { schedule: 'cron(30 6 * * ? *)' },
       });
       // @ts-expect-error: an unknown member
       const wrong: ConstructorParameters<typeof ClusterLogCollector>[2] = { cluster: [] };
       void [logs.bucket.bucketName, logs.alarms.length, wrong];
       Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
      `,
      );
      await typed(app, 'npx', 'cdk', 'synth', '-q', '--no-notices');
      const template = JSON.parse(readFileSync(join(app, 'cdk.out', 'Platform.template.json'), 'utf8'));
      expect(Object.keys(template.Outputs)).toContain('ClusterLogsArchiveBucket');
      const assets = readdirSync(join(app, 'cdk.out')).filter((file) => file.startsWith('asset.'));
      const bundles = assets.filter((asset) => existsSync(join(app, 'cdk.out', asset, 'index.js')));
      expect(bundles).toHaveLength(3);
    },
    patience,
  );
});
