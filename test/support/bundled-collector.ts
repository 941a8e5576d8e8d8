import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { synthesize } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config/config';
import type { RunRecord, RunSummary } from '../../lambda/run/run-record';
import { type Collection, collectionFile } from '../../lambda/stack-contract';
import { type LocalAws, type LocalAwsOptions, startLocalAws } from '../../local/aws/local-aws';
import { FolderStore } from '../../local/aws/store/folder-store';
import { readBuckets, readSecrets } from '../../local/deployment/buckets-and-secrets';
import { ExecutionEnvironment, type InvocationOutcome } from '../../local/deployment/execution-environment';
import { type FunctionDefinition, readFunction } from '../../local/deployment/function-definition';
import { writeRuntime } from '../../local/deployment/local-function';
import { readAssembly } from '../../local/deployment/read-assembly';
import { readRole } from '../../local/deployment/role';
import { StackTemplate } from '../../local/deployment/stack-template';
import { type Intercept, injectFaults } from './aws-faults';
import { recordOf } from './record-text';

/** Every spelling of it differs: plain, as JSON, percent-encoded, base64. */
export const bundledKey = 'k"e\\y/+%&=<secret>~2f1c9a';

export interface BundleOptions extends Pick<LocalAwsOptions, 'onRequest'> {
  readonly intercept?: Intercept;
  /** Laid over the bundle's own collection. */
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

/** The bundle that the stack deploys, with the template's environment and policies, in processes that can be killed. */
export class CollectorBundle {
  readonly #root: string;
  readonly #stack: StackTemplate;
  readonly #definition: FunctionDefinition;
  readonly #runtimeFile: string;

  private constructor(root: string, stack: StackTemplate, definition: FunctionDefinition, runtimeFile: string) {
    this.#root = root;
    this.#stack = stack;
    this.#definition = definition;
    this.#runtimeFile = runtimeFile;
  }

  /** Synthesises the stack once, for any number of {@link BundledCollector}s. */
  static async build(): Promise<CollectorBundle> {
    const root = await mkdtemp(join(tmpdir(), 'bundle-'));
    const outdir = join(root, 'cdk.out');
    const config = {
      name: 'bundled',
      service: { baseUrl: 'http://127.0.0.1:1' },
      clusters: ['a'],
      schedule: { expression: 'cron(0 * * * ? *)' },
    };
    const synthesized = readAssembly(
      synthesize({ config: parseConfig(config, join(outdir, 'collector.json')), outdir, validate: false }),
    );
    const stack = new StackTemplate(synthesized.template, synthesized.location);
    const functions = stack.resourcesOf('AWS::Lambda::Function');
    const resource = functions.find(({ logicalId }) => logicalId.startsWith('Collector'));
    if (resource === undefined) throw new Error('the stack has no function');
    const runtimeFile = join(root, 'runtime.js');
    writeRuntime(runtimeFile);
    return new CollectorBundle(root, stack, readFunction(stack, resource, synthesized), runtimeFile);
  }

  async start(options: BundleOptions): Promise<BundledCollector> {
    const [stack, definition, runtimeFile] = [this.#stack, this.#definition, this.#runtimeFile];
    const folder = await mkdtemp(join(this.#root, 'run-'));
    const code = 'folder' in definition.code ? definition.code.folder : '';
    const codeFolder = join(folder, 'code');
    await mkdir(codeFolder);
    for (const name of await readdir(code)) await copyFile(join(code, name), join(codeFolder, name));
    const deployed = JSON.parse(await readFile(join(code, collectionFile), 'utf8')) as Collection;
    const { collection: changed } = options;
    const limits = { ...deployed.limits, ...changed.limits };
    await writeFile(join(codeFolder, collectionFile), JSON.stringify({ ...deployed, ...changed, limits }));
    const role = readRole(stack, definition.roleArn, {
      principal: 'lambda.amazonaws.com',
      sourceArn: definition.arn,
    });
    const credentials = { accessKeyId: 'ASIABUNDLEDCOLLECTOR', secretAccessKey: 'local', sessionToken: 'local' };
    const { region } = stack.location;
    const archive = join(folder, 'archive');
    const aws = await startLocalAws({
      region,
      principals: [{ ...credentials, arn: role.arn, policies: role.policies }],
      buckets: readBuckets(stack, definition, archive),
      secrets: readSecrets(stack, definition, options.secret ?? bundledKey),
      ...(options.intercept && { around: injectFaults(options.intercept) }),
      ...(options.onRequest && { onRequest: options.onRequest }),
    });
    const variables = {
      ...definition.environment,
      _HANDLER: definition.handler,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_ENDPOINT_URL: aws.url,
      AWS_LAMBDA_FUNCTION_NAME: definition.name,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_REGION: region,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
      LAMBDA_TASK_ROOT: codeFolder,
    };
    const timeoutSeconds = options.timeoutSeconds ?? definition.timeoutSeconds;
    return new BundledCollector(folder, archive, aws, {
      definition: { ...definition, timeoutSeconds },
      codeFolder,
      runtimeFile,
      variables,
    });
  }

  async remove(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }
}

type ProcessOptions = Omit<ConstructorParameters<typeof ExecutionEnvironment>[0], 'onLine'>;

export class BundledCollector {
  /** Whatever its processes wrote to standard output and standard error. */
  readonly lines: string[] = [];
  readonly #processes: ExecutionEnvironment[] = [];
  #outcomes: InvocationOutcome[] = [];

  constructor(
    readonly folder: string,
    readonly archive: string,
    readonly aws: LocalAws,
    private readonly options: ProcessOptions,
  ) {}

  /** What invocations answered, oldest first. */
  get outcomes(): readonly InvocationOutcome[] {
    return this.#outcomes;
  }

  /** @param temporary name of its folder for temporary files; processes of one name share it, one after the other */
  async startProcess(temporary = 'tmp'): Promise<FunctionProcess> {
    const temporaryFolder = join(this.folder, temporary);
    await mkdir(temporaryFolder, { recursive: true });
    const variables = { ...this.options.variables, TMPDIR: temporaryFolder };
    const environment = new ExecutionEnvironment({
      ...this.options,
      variables,
      onLine: (line) => this.lines.push(line),
    });
    this.#processes.push(environment);
    return {
      invoke: async (event = {}) => {
        const outcome = await environment.invoke(event, randomUUID());
        this.#outcomes = [...this.#outcomes, outcome];
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
  async objects(): Promise<Map<string, { content: Buffer; metadata: Record<string, string> }>> {
    const store = new FolderStore(this.archive);
    const objects = new Map<string, { content: Buffer; metadata: Record<string, string> }>();
    for (const { key } of (await store.list('')).objects) {
      const found = await store.get(key);
      const chunks: Buffer[] = [];
      for await (const chunk of found?.open() ?? []) chunks.push(chunk as Buffer);
      objects.set(key, { content: Buffer.concat(chunks), metadata: { ...found?.metadata.userMetadata } });
    }
    return objects;
  }

  /** What is archived, unpacked, without the run records. */
  async contents(): Promise<Map<string, Buffer>> {
    const archived = [...(await this.objects())].filter(([key]) => /^(logs|manifests)\//.test(key));
    return new Map(archived.map(([key, { content }]) => [key, gunzipSync(content)]));
  }

  /** The run records, by key. */
  async records(): Promise<RunRecord[]> {
    const records = [...(await this.objects())].filter(([key]) => key.startsWith('runs/'));
    return records.map(([, { content }]) => recordOf(content));
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((environment) => environment.stop()));
    await this.aws.close();
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
