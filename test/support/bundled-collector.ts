import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { synthesize } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config/config';
import type { RunRecord, RunSummary } from '../../lambda/run/run-record';
import { type Collection, collectionFile } from '../../lambda/stack-contract';
import type { LocalAwsOptions } from '../../local/aws/local-aws';
import { deployLocally, type LocalDeployment } from '../../local/deployment/deploy-locally';
import {
  type EnvironmentOptions,
  ExecutionEnvironment,
  type InvocationOutcome,
} from '../../local/deployment/execution-environment';
import { type Intercept, injectFaults } from './aws-faults';
import { type FaultService, type Script, startFaultService } from './fault-service';
import { type StoredObject, storedObjects, storedRecords } from './stored-objects';

/** Every spelling of it differs: plain, as JSON, percent-encoded, base64. */
export const bundledKey = 'k"e\\y/+%&=<secret>~2f1c9a';

export interface BundleOptions extends Pick<LocalAwsOptions, 'onRequest'> {
  readonly intercept?: Intercept;
  /** Laid over the bundle's own collection, which reads the service of this file. */
  readonly collection: Partial<Omit<Collection, 'limits'>> & { readonly limits?: Partial<Collection['limits']> };
  readonly secret?: string;
  /** Time limit of an invocation in seconds; left out: the template's. */
  readonly timeoutSeconds?: number;
}

/** One process with the function loaded, as Lambda keeps it warm. */
export interface FunctionProcess {
  invoke(event?: unknown): Promise<InvocationOutcome>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Largest resident memory so far, in bytes. */
  peakMemory(): Promise<number>;
}

/** Collectors of one test file, and the service that they read. */
export interface BundledCollectors {
  readonly service: FaultService;
  /** Starts one with an empty archive, which is closed after the test. */
  start(options: BundleOptions): Promise<BundledCollector>;
}

/**
 * The bundle that the stack deploys, with the template's environment and policies, in processes that can be killed. It is
 * synthesised once for all tests of a file, by hooks.
 * @param script of the service
 */
export function useBundle(script: Script): BundledCollectors {
  let root: string;
  let assembly: CloudAssembly;
  let service: FaultService;
  const started: BundledCollector[] = [];
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'bundle-'));
    service = await startFaultService(script);
    const outdir = join(root, 'cdk.out');
    const schedule = { expression: 'cron(0 * * * ? *)' };
    const members = { name: 'bundled', service: { baseUrl: service.url }, clusters: ['a'], schedule };
    const config = parseConfig(members, join(outdir, 'collector.json'));
    assembly = synthesize({ config, outdir, validate: false });
  });
  afterEach(() => Promise.all(started.splice(0).map((collector) => collector.close())));
  afterAll(async () => {
    await service.close();
    await rm(root, { recursive: true, force: true });
  });
  return {
    get service() {
      return service;
    },
    start: async ({ collection, secret = bundledKey, intercept, onRequest, timeoutSeconds }) => {
      const folder = await mkdtemp(join(root, 'run-'));
      const deployment = await deployLocally({
        assembly,
        folder: join(folder, 'archive'),
        secretValue: secret,
        ...(intercept && { around: injectFaults(intercept) }),
        ...(onRequest && { onRequest }),
      });
      const { definition } = deployment;
      const codeFolder = join(folder, 'code');
      await cp(definition.codeFolder, codeFolder, { recursive: true });
      const deployed = JSON.parse(await readFile(join(definition.codeFolder, collectionFile), 'utf8')) as Collection;
      const limits = { ...deployed.limits, ...collection.limits };
      await writeFile(join(codeFolder, collectionFile), JSON.stringify({ ...deployed, ...collection, limits }));
      const collector = new BundledCollector(folder, deployment, {
        definition: { ...definition, codeFolder, timeoutSeconds: timeoutSeconds ?? definition.timeoutSeconds },
      });
      started.push(collector);
      return collector;
    },
  };
}

type ProcessOptions = Pick<EnvironmentOptions, 'definition'>;

export class BundledCollector {
  readonly archive: string;
  /** Whatever its processes wrote to standard output and standard error. */
  readonly lines: string[] = [];
  /** What invocations answered, oldest first. */
  readonly outcomes: InvocationOutcome[] = [];
  readonly #processes: ExecutionEnvironment[] = [];
  #closed: Promise<void> | undefined;

  constructor(
    readonly folder: string,
    private readonly deployment: LocalDeployment,
    private readonly options: ProcessOptions,
  ) {
    this.archive = join(folder, 'archive');
  }

  /** @param temporary name of its folder for temporary files; processes of one name share it, one after the other */
  async startProcess(temporary = 'tmp'): Promise<FunctionProcess> {
    const temporaryFolder = join(this.folder, temporary);
    await mkdir(temporaryFolder, { recursive: true });
    const environment = new ExecutionEnvironment({
      ...this.deployment,
      ...this.options,
      endpoint: this.deployment.url,
      temporaryFolder,
      onLine: (line) => this.lines.push(line),
    });
    this.#processes.push(environment);
    return {
      invoke: async (event = {}) => {
        const outcome = await environment.invoke(event, randomUUID());
        this.outcomes.push(outcome);
        return outcome;
      },
      kill: () => environment.stop(),
      peakMemory: () => peakMemoryOf(temporaryFolder),
    };
  }

  /** Bodies that are kept in temporary files now. */
  async temporaryFiles(temporary = 'tmp'): Promise<string[]> {
    return (await readdir(join(this.folder, temporary), { recursive: true })).filter((name) => /body-/.test(name));
  }

  /** Every object that is visible now, as stored. */
  objects(): Promise<Map<string, StoredObject>> {
    return storedObjects(this.archive);
  }

  /** What is archived, unpacked, without the run records. */
  async contents(): Promise<Map<string, Buffer>> {
    const archived = [...(await this.objects())].filter(([key]) => /^(logs|manifests)\//.test(key));
    return new Map(archived.map(([key, { body }]) => [key, gunzipSync(body)]));
  }

  async records(): Promise<RunRecord[]> {
    return storedRecords(this.archive);
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#processes.map((environment) => environment.stop()));
    await this.deployment.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The summary that an invocation answered. @throws what it failed with */
export function summaryOf(outcome: InvocationOutcome | undefined): RunSummary {
  if (outcome === undefined || outcome.error !== undefined)
    throw new Error(outcome?.error.errorMessage ?? 'no outcome');
  return outcome.payload as RunSummary;
}

/** From Linux, which knows the process by its environment. */
async function peakMemoryOf(temporaryFolder: string): Promise<number> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!environment.split('\0').includes(`TMPDIR=${temporaryFolder}`)) continue;
    const peak = /^VmHWM:\s*(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
    return Number(peak?.[1]) * 1024;
  }
  throw new Error(`no process has its temporary files in ${temporaryFolder}`);
}
