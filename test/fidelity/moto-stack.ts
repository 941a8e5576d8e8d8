import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateKeyCommand } from '@aws-sdk/client-kms';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import type { AuditResult } from '../../lambda/audit/audit';
import type { RunSummary } from '../../lambda/run/run-record';
import { demoContent } from '../../local/demo-service/demo-content';
import { startDemoService } from '../../local/demo-service/start-demo-service';
import { readAssembly } from '../../local/deployment/read-assembly';
import type { Template } from '../../local/deployment/stack-template';
import { startMoto } from '../local/aws/moto-server';
import { type CdkCommand, startCdkCommand } from './cdk-command';
import { type DeployedFunction, downloadFunction, filesOf, invokeDeployed } from './deployed-function';
import { accountId, type DeployedConfiguration, type DeployedResource, MotoAccount, region } from './moto-account';
import { prepareAssembly, type StandIns } from './moto-workarounds';

export const stackName = 'moto-check';
const apiKey = 'the-api-key-of-the-check';

/** A synthesised stack, changed so that moto can deploy it. */
export interface Assembly {
  readonly folder: string;
  /** The template before it was changed for moto. */
  readonly template: Template;
}

/** What the deployed function did in one invocation. */
export interface Collected {
  readonly configuration: DeployedConfiguration;
  /** The list of clusters in the deployed code. */
  readonly clusters: unknown;
  readonly summary: RunSummary;
}

/** What the deployed audit did in one invocation. */
export interface Audited {
  readonly configuration: DeployedConfiguration;
  readonly result: AuditResult;
  /** Where the seal lies. */
  readonly archiveFolder: string;
}

/** Starts moto with an empty account, the CDK command line for it, and a demo service that the collector reads. */
export async function startMotoStack(motoCommand: string): Promise<MotoStack> {
  const folder = mkdtempSync(join(tmpdir(), 'moto-check-'));
  const started: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  };
  try {
    const demo = await startDemoService({ apiKey, source: demoContent() });
    started.push(() => demo.close());
    const moto = await startMoto(motoCommand);
    started.push(() => moto.stop());
    const cdk = await startCdkCommand(moto.url, folder);
    started.push(() => cdk.close());
    const account = new MotoAccount(moto.url);
    const secret = new CreateSecretCommand({ Name: 'moto-check-key', SecretString: apiKey });
    const { ARN: secretArn = '' } = await account.secrets.send(secret);
    const kind = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' } as const;
    const { KeyMetadata } = await account.kms.send(new CreateKeyCommand(kind));
    const standIns = { secretArn, signingKeyArn: KeyMetadata?.Arn ?? '' };
    return new MotoStack(folder, demo.url, cdk, account, standIns, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** The real stack in moto's account, deployed by the project's own CDK command line. */
export class MotoStack {
  #assemblies = 0;

  /**
   * @param folder for the files of the test
   * @param baseUrl of the demo service
   */
  constructor(
    private readonly folder: string,
    private readonly baseUrl: string,
    private readonly cdk: CdkCommand,
    readonly account: MotoAccount,
    readonly standIns: StandIns,
    readonly close: () => Promise<void>,
  ) {}

  /** What the command line tried to reach beside moto: `CONNECT host:port`, or method and URL. */
  get callsElsewhere(): readonly string[] {
    return this.cdk.callsElsewhere;
  }

  /** @param members of the configuration beside name, service and schedule */
  async synthesise(members: object): Promise<Assembly> {
    this.#assemblies += 1;
    const folder = join(this.folder, `assembly-${this.#assemblies}`);
    const config = `${folder}.json`;
    const schedule = { expression: 'cron(0 * * * ? *)' };
    writeFileSync(
      config,
      JSON.stringify({ name: stackName, service: { baseUrl: this.baseUrl }, schedule, ...members }),
    );
    await this.cdk.run(['synth', '-q', '-c', `config=${config}`, '-o', folder]);
    return { folder, template: prepareAssembly(folder, this.standIns) };
  }

  bootstrap({ folder }: Assembly): Promise<string> {
    return this.cdk.run(['bootstrap', '--app', folder, `aws://${accountId}/${region}`]);
  }

  deploy({ folder }: Assembly): Promise<string> {
    const options = ['--method', 'direct', '--no-previous-parameters', '--require-approval', 'never'];
    return this.cdk.run(['deploy', '--app', folder, ...options]);
  }

  destroy({ folder }: Assembly): Promise<string> {
    return this.cdk.run(['destroy', '--app', folder, '--force']);
  }

  resources(): Promise<DeployedResource[]> {
    return this.account.resourcesOf(stackName);
  }

  /** Outputs by key; undefined if the stack does not exist. */
  outputs(): Promise<Record<string, string> | undefined> {
    return this.account.outputsOf(stackName);
  }

  /** @throws Error if no resource's logical id starts with the prefix */
  async physicalIdOf(logicalPrefix: string): Promise<string> {
    const found = (await this.resources()).find(({ logicalId }) => logicalId.startsWith(logicalPrefix));
    if (found === undefined) throw new Error(`The stack ${stackName} has no resource ${logicalPrefix}….`);
    return found.physicalId;
  }

  /**
   * Downloads the deployed collector from moto and invokes it once. Fails if its code is not the assembly's, or if the
   * invocation fails.
   */
  async collect(assembly: Assembly): Promise<Collected> {
    const { deployed, files } = await this.#download(assembly, 'CollectorFunction');
    const summary = (await this.#invoke(assembly, deployed)) as RunSummary;
    const { clusters } = JSON.parse(files['collection.json'] ?? '');
    return { configuration: deployed.configuration, clusters, summary };
  }

  /** Does the same with the deployed audit, which reads what {@link collect} has archived. */
  async audit(assembly: Assembly): Promise<Audited> {
    const { deployed } = await this.#download(assembly, 'AuditFunction');
    const result = (await this.#invoke(assembly, deployed)) as AuditResult;
    return { configuration: deployed.configuration, result, archiveFolder: archiveFolderOf(assembly) };
  }

  async #download({ folder }: Assembly, logicalPrefix: string) {
    const { template, assetFolder } = readAssembly(new CloudAssembly(folder));
    const [, found] =
      Object.entries(template.Resources).find(
        ([id, { Type }]) => Type === 'AWS::Lambda::Function' && id.startsWith(logicalPrefix),
      ) ?? [];
    const { S3Key } = found?.Properties?.Code as { S3Key: string };
    const name = await this.physicalIdOf(logicalPrefix);
    const deployed = await downloadFunction(this.account, name, S3Key, `${folder}-${logicalPrefix}`);
    const files = filesOf(deployed.codeFolder);
    expect(files).toEqual(filesOf(assetFolder(S3Key)));
    return { deployed, files };
  }

  async #invoke(assembly: Assembly, deployed: DeployedFunction): Promise<unknown> {
    const options = { apiKey, archiveFolder: archiveFolderOf(assembly), event: {} };
    const { payload, error } = await invokeDeployed(this.account, deployed, options);
    expect(error).toBeUndefined();
    return payload;
  }
}

/** Where the objects lie that the functions of an assembly write. */
function archiveFolderOf({ folder }: Assembly): string {
  return `${folder}-archive`;
}
