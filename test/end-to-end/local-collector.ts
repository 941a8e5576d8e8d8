import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { synthesize } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config/config';
import type { RunRecord } from '../../lambda/run/run-record';
import { demoContent } from '../../local/demo-service/demo-content';
import type { FaultName } from '../../local/demo-service/demo-faults';
import { type DemoRequest, type DemoService, startDemoService } from '../../local/demo-service/start-demo-service';
import {
  deployLocally,
  type LocalDeployment,
  type LocalDeploymentOptions,
} from '../../local/deployment/deploy-locally';
import type { Template } from '../../local/deployment/stack-template';
import { storedKeys, storedRecords } from '../support/stored-objects';
import { tracesOf } from '../support/traces-of';

export const uids = ['alpha', 'beta', 'a uid/with "everything" %2F'];

/** The real stack, synthesised once for a test file, beside a demo service that it reads. */
export interface LocalCollector {
  readonly demo: DemoService;
  /** As it was synthesised. */
  readonly template: Template;
  /** What the demo service was asked for, oldest first. */
  readonly requests: readonly DemoRequest[];
  /** Clusters that fail from now on, by uid; emptied before every deployment. */
  readonly failing: Record<string, FaultName>;
  /** The key that the demo service lets in from now on, and that a deployment's secret has by default. */
  key: string;
  /** Deploys into a folder of its own, which is removed with everything else by {@link LocalCollector.closeDeployments}. */
  deploy(options?: DeployOptions): Promise<DeployedCollector>;
  closeDeployments(): Promise<void>;
  /** Deploys for several tests: closed only by {@link LocalCollector.close}. */
  deployForAll(options?: DeployOptions): Promise<DeployedCollector>;
  close(): Promise<void>;
}

export interface DeployedCollector extends LocalDeployment {
  readonly folder: string;
  /** Keys of everything stored, in order. */
  keys(): Promise<string[]>;
  /** All run records, in the order of their keys. */
  records(): Promise<RunRecord[]>;
}

interface DeployOptions extends Partial<LocalDeploymentOptions> {
  /** Whether traces name lines of the sources, as the template has it. That takes a process a tenth of a second. */
  readonly hasSourceMaps?: boolean;
}

interface ConfigOverrides {
  readonly service?: object;
  readonly [member: string]: unknown;
}

/** @param overrides members of the configuration, beside those that a run needs */
export async function startLocalCollector(overrides: ConfigOverrides = {}): Promise<LocalCollector> {
  const failing: Record<string, FaultName> = {};
  const collector = { key: 'the-api-key-of-the-tests' };
  const requests: DemoRequest[] = [];
  const demo = await startDemoService({
    apiKey: () => collector.key,
    source: demoContent(),
    failing,
    onRequest: (request) => requests.push(request),
  });
  const root = await mkdtemp(join(tmpdir(), 'end-to-end-'));
  const assembly = assemblyOf(demo.url, overrides, join(root, 'cdk.out'));
  const deployments: DeployedCollector[] = [];
  const forAll: DeployedCollector[] = [];
  let count = 0;

  const close = async (closed: readonly DeployedCollector[]) => {
    await Promise.all(closed.map((deployment) => deployment.close()));
    for (const deployment of closed) await expectWithoutKey(deployment, collector.key);
  };
  const closeDeployments = () => close(deployments.splice(0));
  const deploy = async (options: DeployOptions = {}) => {
    for (const uid of Object.keys(failing)) delete failing[uid];
    const folder = join(root, `archive-${++count}`);
    const edit = (template: Template) => {
      if (options.hasSourceMaps !== true) withoutSourceMaps(template);
      options.edit?.(template);
    };
    const deployment = await deployLocally({ assembly, folder, secretValue: collector.key, ...options, edit });
    const deployed = Object.assign(deployment, {
      folder,
      keys: async () => storedKeys(folder),
      records: async () => storedRecords(folder),
    });
    deployments.push(deployed);
    return deployed;
  };
  return Object.assign(collector, {
    demo,
    template: assembly.stacks[0]?.template as Template,
    requests,
    failing,
    deploy,
    deployForAll: async (options?: DeployOptions) => {
      const deployed = await deploy(options);
      forAll.push(...deployments.splice(deployments.indexOf(deployed), 1));
      return deployed;
    },
    closeDeployments,
    close: async () => {
      await close([...deployments.splice(0), ...forAll.splice(0)]);
      await demo.close();
      await rm(root, { recursive: true, force: true });
    },
  });
}

function assemblyOf(baseUrl: string, overrides: ConfigOverrides, outdir: string): CloudAssembly {
  const service = { baseUrl, ...overrides.service };
  const needed = { name: 'end-to-end', clusters: uids, schedule: { expression: 'cron(0 * * * ? *)' } };
  const config = parseConfig({ ...needed, ...overrides, service }, join(outdir, 'collector.json'));
  return synthesize({ config, outdir, validate: false });
}

function withoutSourceMaps({ Resources }: Template): void {
  for (const { Type, Properties } of Object.values(Resources))
    if (Type === 'AWS::Lambda::Function')
      delete (Properties?.Environment as { Variables: Record<string, unknown> }).Variables.NODE_OPTIONS;
}

/** Every end-to-end test ends with this: the key is in nothing that the function said, sent or stored. */
async function expectWithoutKey({ logs, messages, folder, keys }: DeployedCollector, key: string): Promise<void> {
  const stored = await Promise.all(
    (await keys()).map(async (name) => {
      const bytes = await readFile(join(folder, name));
      // A test may have stored something else under an object's key.
      const isGzip = bytes.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]));
      return (isGzip ? gunzipSync(bytes) : bytes).toString('latin1');
    }),
  );
  const left = [...logs, JSON.stringify(messages), ...stored];
  const found = tracesOf(key).filter((trace) => left.some((text) => text.includes(trace)));
  if (found.length > 0) throw new Error(`the key has got out, as ${found.join(' and ')}`);
}
