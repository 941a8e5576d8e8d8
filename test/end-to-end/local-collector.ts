import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { createApp } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config';
import { type RunRecord, runRecordSchema } from '../../lambda/run-record';
import { demoContent } from '../../local/demo-service/demo-content';
import type { FaultName } from '../../local/demo-service/demo-faults';
import { type DemoService, startDemoService } from '../../local/demo-service/start-demo-service';
import {
  deployLocally,
  type LocalDeployment,
  type LocalDeploymentOptions,
} from '../../local/deployment/deploy-locally';

export const uids = ['alpha', 'beta', 'a uid/with "everything" %2F'];

/** The real stack, synthesised once for a test file, beside a demo service that it reads. */
export interface LocalCollector {
  readonly demo: DemoService;
  /** Clusters that fail from now on, by uid; emptied before every deployment. */
  readonly failing: Record<string, FaultName>;
  /** The key that the demo service lets in from now on, and that a deployment's secret has by default. */
  key: string;
  /** Deploys into a folder of its own, which is removed with everything else by {@link LocalCollector.closeDeployments}. */
  deploy(options?: Partial<LocalDeploymentOptions>): Promise<DeployedCollector>;
  closeDeployments(): Promise<void>;
  close(): Promise<void>;
}

export interface DeployedCollector extends LocalDeployment {
  readonly folder: string;
  /** Keys of everything stored, in order. */
  keys(): Promise<string[]>;
  /** All run records, in the order of their keys. */
  records(): Promise<RunRecord[]>;
}

interface ConfigOverrides {
  readonly service?: object;
  readonly [member: string]: unknown;
}

/** @param overrides members of the configuration, beside those that a run needs */
export async function startLocalCollector(overrides: ConfigOverrides = {}): Promise<LocalCollector> {
  const failing: Record<string, FaultName> = {};
  const collector = { key: 'the-api-key-of-the-tests' };
  const demo = await startDemoService({ apiKey: () => collector.key, source: demoContent(), failing });
  const root = await mkdtemp(join(tmpdir(), 'end-to-end-'));
  const assembly = synthesize(demo.url, overrides, join(root, 'cdk.out'));
  const deployments: LocalDeployment[] = [];
  let count = 0;

  const closeDeployments = async () => {
    await Promise.all(deployments.splice(0).map((deployment) => deployment.close()));
  };
  return Object.assign(collector, {
    demo,
    failing,
    deploy: async (options: Partial<LocalDeploymentOptions> = {}) => {
      for (const uid of Object.keys(failing)) delete failing[uid];
      const folder = join(root, `archive-${++count}`);
      const deployment = await deployLocally({ assembly, folder, secretValue: collector.key, ...options });
      deployments.push(deployment);
      return Object.assign(deployment, {
        folder,
        keys: () => storedKeys(folder),
        records: async () => {
          const keys = (await storedKeys(folder)).filter((key) => key.startsWith('runs/'));
          const texts = await Promise.all(keys.map((key) => readFile(join(folder, key), 'utf8')));
          return texts.map((text) => runRecordSchema.parse(JSON.parse(text)));
        },
      });
    },
    closeDeployments,
    close: async () => {
      await closeDeployments();
      await demo.close();
      await rm(root, { recursive: true, force: true });
    },
  });
}

function synthesize(baseUrl: string, overrides: ConfigOverrides, outdir: string): CloudAssembly {
  const service = { baseUrl, ...overrides.service };
  const needed = { name: 'end-to-end', clusters: uids, schedule: { expression: 'cron(0 * * * ? *)' } };
  const config = parseConfig({ ...needed, ...overrides, service }, join(outdir, 'collector.json'));
  return createApp({ config, outdir }).app.synth();
}

async function storedKeys(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((key) => !key.startsWith('.'))
    .sort();
}
