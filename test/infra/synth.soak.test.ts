import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { responseTimeoutSeconds } from '../../infra/limits';
import { configurationFile } from '../../lambda/stack-contract';
import { listenLocally } from '../../local/listen-locally';
import { newFolder } from '../support/new-folder';
import { exampleConfig, exampleJson } from './example-config';
import { configurations, exampleApp } from './example-stack';
import { assetIn, type CdkRun, cdkSynth } from './run-cdk';

const root = join(__dirname, '..', '..');
const folders: string[] = [];

async function synth(...options: Parameters<typeof cdkSynth>): Promise<CdkRun> {
  const run = await cdkSynth(...options);
  folders.push(run.outdir);
  return run;
}

/** An app of one stack with one queue. */
function oneQueue(): string {
  const file = join(newFolder(), 'one-queue.js');
  const load = (name: string) => `require(${JSON.stringify(join(root, 'node_modules', name))})`;
  writeFileSync(
    file,
    `const { App, Stack } = ${load('aws-cdk-lib')};\nconst { Queue } = ${load('aws-cdk-lib/aws-sqs')};\n` +
      "const app = new App();\nnew Queue(new Stack(app, 'one'), 'Queue');\napp.synth();\n",
  );
  return file;
}

/** Arguments that choose a configuration with other members. */
function withConfig(changes: Record<string, unknown>): string[] {
  const file = join(newFolder(), 'config.json');
  writeFileSync(file, JSON.stringify({ ...exampleJson(), ...changes }));
  return ['-c', `config=${file}`];
}

/** The one of two runs that took less processor time: other load on the machine only adds to it. */
const cheaper = (one: CdkRun, other: CdkRun) => (one.cpuSeconds < other.cpuSeconds ? one : other);

let shipped: CdkRun;
/** The same once more, without a proxy that answers. */
let again: CdkRun;
/** What CDK itself costs here: seconds depend on the machine, their ratio does not. */
let least: CdkRun;
/** What the first of them asked the network for. */
const calls: string[] = [];
beforeAll(async () => {
  const proxy = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  }).on('connect', (request, socket) => {
    calls.push(`CONNECT ${request.url}`);
    socket.destroy();
  });
  const server = await listenLocally(proxy);
  shipped = await synth([], server.url);
  await server.close();
  again = await synth();
  least = await synth(['--app', `node ${oneQueue()}`]);
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('cdk synth', () => {
  it('succeeds without a network', () => {
    expect([shipped.status, again.status]).toEqual([0, 0]);
    expect(calls).toEqual([]);
  });

  it('takes less than two and a half times the processor time of a stack with one queue', () => {
    expect(least.cpuSeconds).toBeGreaterThan(1);
    expect(cheaper(shipped, again).cpuSeconds / least.cpuSeconds).toBeLessThan(2.5);
  });

  it('takes less than three times that for 50,000 clusters, all of which reach the function', async () => {
    const clusters = Array.from({ length: 50_000 }, (_, index) => `cluster-${String(index).padStart(36, '0')}`);
    const large = withConfig({ clusters });
    const run = await synth(large);
    expect(run.status).toBe(0);
    const isCheap = run.cpuSeconds / least.cpuSeconds < 3;
    expect((isCheap ? run : await synth(large)).cpuSeconds / least.cpuSeconds).toBeLessThan(3);
    // Another list is another asset.
    expect(basename(assetIn(run.outdir))).not.toBe(basename(assetIn(shipped.outdir)));
    expect(collectionIn(run.outdir).clusters).toHaveLength(50_000);
  });

  it('fails on several problems with one message, no stack trace and no assembly', async () => {
    const schedule = { expression: 'rate(1 hour)' };
    const run = await synth(withConfig({ name: 'no name', shards: 0, schedule }));
    expect(run.status).not.toBe(0);
    for (const message of ['name: received "no name"', 'shards: received 0', 'rate() fires at deployment'])
      expect(run.stderr).toContain(message);
    expect(run.stderr).not.toMatch(/^\s+at /m);
    expect(readdirSync(run.outdir)).toEqual([]);
  });

  it('refuses to deploy the shipped example', async () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { status, stderr } = await synth(scripts.deploy.split(' ').slice(2));
    expect(status).not.toBe(0);
    expect(stderr).toContain(
      'service.baseUrl: received "https://clusters.example.com", expected the address of your service',
    );
  });
});

function collectionIn(outdir: string) {
  return JSON.parse(readFileSync(join(assetIn(outdir), configurationFile), 'utf8'));
}

describe('the code of the function', () => {
  it('is a bundle of less than 640 KB, its map, and the configuration file', () => {
    const asset = assetIn(shipped.outdir);
    expect(readdirSync(asset).sort()).toEqual([configurationFile, 'index.js', 'index.js.map']);
    expect(statSync(join(asset, 'index.js')).size).toBeLessThan(640_000);
    expect(collectionIn(shipped.outdir)).toEqual({
      service: { baseUrl: 'https://clusters.example.com', projectUid: 'project-7c1f', collection: 'platformclusters' },
      clusters: exampleConfig().clusters,
      limits: { ...exampleConfig().limits, responseTimeoutSeconds },
      schedule: exampleConfig().schedule,
      retentionDays: exampleConfig().archive.retentionDays,
    });
  });

  it('is the same for the same sources', () => {
    expect(basename(assetIn(again.outdir))).toBe(basename(assetIn(shipped.outdir)));
  });

  it('has no path of the machine that bundled it', () => {
    const asset = assetIn(shipped.outdir);
    for (const file of readdirSync(asset)) expect(readFileSync(join(asset, file), 'utf8')).not.toContain(root);
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(asset, 'index.js.map'), 'utf8'));
    // From the checkout's folder, so that the same sources give the same code wherever the checkout lies.
    const outside = sources.filter((source: string) => !/^(archive|lambda|node_modules|package\.json)/.test(source));
    expect(sources.length).toBeGreaterThan(100);
    expect(outside).toEqual([]);
    expect(sourcesContent).toBeUndefined();
  });
});

describe('the rules of CloudFormation', () => {
  it.each(configurations)('and those of cdk-nag are kept with %s', (_, changes) => {
    const { app } = exampleApp(changes, true);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });

  it('fail a synthesis that breaks them', () => {
    const { app, stack } = exampleApp({}, true);
    new CfnQueue(stack, 'Careless').addPropertyOverride('VisibilityTimout', 30);
    expect(() => app.synth()).toThrow('VisibilityTimout');
  });
});
