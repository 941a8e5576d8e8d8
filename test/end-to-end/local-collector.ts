import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { firstResources, resourceNames } from '../../archive/format/resources';
import type { RunRecord } from '../../archive/format/run-record';
import { createApp } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config/config';
import type { FaultName } from '../../local/demo-service/demo-faults';
import { startDemoService } from '../../local/demo-service/start-demo-service';
import {
  deployLocally,
  type LocalDeployment,
  type LocalDeploymentOptions,
} from '../../local/deployment/deploy-locally';
import type { Template } from '../../local/deployment/stack-template';
import type { ListeningServer } from '../../local/listen-locally';
import { newFolder } from '../support/new-folder';
import { storedKeys, storedRecords } from '../support/stored-objects';
import { tracesOf } from '../support/traces-of';

export const uids = ['alpha', 'beta', 'a uid/with "everything" %2F'];

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

/** The real stack, synthesised once, beside a demo service that it reads. */
export class LocalCollector {
  /** Paths that the demo service was asked for, oldest first. */
  readonly requests: string[] = [];
  /** Clusters that fail from now on, by uid; emptied before every deployment. */
  readonly failing: Record<string, FaultName> = {};
  /**
   * The key that the demo service lets in from now on, and that a deployment's secret has by default. Every spelling of it
   * differs: plain, as JSON, percent-encoded, base64.
   */
  key = 'k"e\\y/+%&=<secret>~2f1c9a';
  readonly #ofTest: DeployedCollector[] = [];
  readonly #ofAll: DeployedCollector[] = [];
  #started: { readonly demo: ListeningServer; readonly root: string; readonly assembly: CloudAssembly } | undefined;
  #count = 0;

  /** @param overrides members of the configuration, beside those that a run needs */
  constructor(private readonly overrides: ConfigOverrides = {}) {}

  async start(): Promise<this> {
    const demo = await startDemoService({
      apiKey: () => this.key,
      failing: this.failing,
      onRequest: (path) => this.requests.push(path),
    });
    const root = newFolder();
    this.#started = { demo, root, assembly: assemblyOf(demo.url, this.overrides, join(root, 'cdk.out')) };
    return this;
  }

  get demo(): ListeningServer {
    return this.#parts.demo;
  }

  /** As it was synthesised. */
  get template(): Template {
    return this.#parts.assembly.stacks[0]?.template;
  }

  get #parts() {
    if (this.#started === undefined) throw new Error('the collector is not started');
    return this.#started;
  }

  /** Deploys into a folder of its own, which is removed by {@link close}. */
  deploy(options?: DeployOptions): Promise<DeployedCollector> {
    return this.#deploy(this.#ofTest, options);
  }

  /** Deploys for several tests: closed only by {@link close}. */
  deployForAll(options?: DeployOptions): Promise<DeployedCollector> {
    return this.#deploy(this.#ofAll, options);
  }

  async #deploy(deployments: DeployedCollector[], options: DeployOptions = {}): Promise<DeployedCollector> {
    for (const uid of Object.keys(this.failing)) delete this.failing[uid];
    const { root, assembly } = this.#parts;
    this.#count += 1;
    const folder = join(root, `archive-${this.#count}`);
    const edit = (template: Template) => {
      if (options.hasSourceMaps !== true) withoutSourceMaps(template);
      options.edit?.(template);
    };
    const deployment = await deployLocally({ assembly, folder, secretValue: this.key, ...options, edit });
    const deployed = Object.assign(deployment, {
      folder,
      keys: async () => storedKeys(folder),
      records: async () => storedRecords(folder),
    });
    deployments.push(deployed);
    return deployed;
  }

  /** Closes what was deployed by {@link deploy}. */
  closeDeployments(): Promise<void> {
    return this.#close(this.#ofTest.splice(0));
  }

  async #close(closed: readonly DeployedCollector[]): Promise<void> {
    await Promise.all(closed.map((deployment) => deployment.close()));
    for (const deployment of closed) await expectWithoutKey(deployment, this.key);
  }

  async close(): Promise<void> {
    await this.#close([...this.#ofTest.splice(0), ...this.#ofAll.splice(0)]);
    const { demo, root } = this.#parts;
    await demo.close();
    await rm(root, { recursive: true, force: true });
  }
}

/** One for all tests of a file or of a group, whose hooks start it, close what each test deployed, and close it. */
export function useLocalCollector(overrides?: ConfigOverrides): LocalCollector {
  const collector = new LocalCollector(overrides);
  beforeAll(() => collector.start());
  afterEach(() => collector.closeDeployments());
  afterAll(() => collector.close());
  return collector;
}

function assemblyOf(baseUrl: string, overrides: ConfigOverrides, outdir: string): CloudAssembly {
  const service = { baseUrl, ...overrides.service };
  const needed = { name: 'end-to-end', clusters: uids, schedule: { expression: 'cron(0 * * * ? *)' } };
  const clusters = ofFirstResources(
    overrides.clusters ?? needed.clusters.map((uid) => ({ uid, resources: resourceNames })),
  );
  const config = parseConfig({ ...needed, ...overrides, clusters, service }, join(outdir, 'collector.json'));
  return createApp({ config, outdir, validate: false }).app.synth();
}

/** Where nothing else is said, the first two resources of each cluster are collected, however many there are. */
function ofFirstResources(clusters: unknown): unknown {
  if (!Array.isArray(clusters)) return clusters;
  return clusters.map((one) => ({ resources: firstResources, ...(typeof one === 'string' ? { uid: one } : one) }));
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
