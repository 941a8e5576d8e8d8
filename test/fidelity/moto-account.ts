import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { XMLParser } from 'fast-xml-parser';
import * as z from 'zod';
import { type RolePolicy, rolePolicySchema } from '../../local/aws/iam/policy-document';

/** moto's account, into which everything is deployed. */
export const accountId = '123456789012';
export const region = 'eu-central-1';
/** The bucket that `cdk bootstrap` creates for code and templates. */
export const assetBucket = `cdk-hnb659fds-assets-${accountId}-${region}`;
/** moto accepts any credentials. */
export const credentials = { accessKeyId: 'AKIANOBODY', secretAccessKey: 'nothing' };

/** moto accepts a template's URL with the bucket in its path only if the host is `localhost`. */
export function templateHost(url: string): string {
  return url.replace('127.0.0.1', 'localhost');
}

const versions = { cloudformation: '2010-05-15', iam: '2010-05-08' } as const;

const functionSchema = z.object({
  Configuration: z.looseObject({
    FunctionName: z.string(),
    FunctionArn: z.string(),
    Role: z.string(),
    Handler: z.string(),
    Timeout: z.int(),
    MemorySize: z.int(),
    CodeSha256: z.string(),
    Environment: z.object({ Variables: z.record(z.string(), z.string()) }),
  }),
});

export type DeployedConfiguration = z.infer<typeof functionSchema>['Configuration'];

/** One resource of a deployed stack. */
export interface DeployedResource {
  readonly logicalId: string;
  readonly type: string;
  readonly physicalId: string;
}

/** Reads moto's account. moto needs no signature, only the name of the service in the authorization header. */
export class MotoAccount {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly s3: S3Client;
  readonly secrets: SecretsManagerClient;
  readonly kms: KMSClient;
  readonly #xml = new XMLParser({ isArray: (name) => name === 'member', parseTagValue: false });

  constructor(url: string) {
    this.url = url;
    this.s3 = new S3Client({ endpoint: url, region, credentials, forcePathStyle: true });
    this.secrets = new SecretsManagerClient({ endpoint: url, region, credentials });
    this.kms = new KMSClient({ endpoint: url, region, credentials });
  }

  /**
   * Calls an action of a service with the query protocol.
   * @returns the status, and the result without its envelope
   */
  async query(service: keyof typeof versions, action: string, parameters: Record<string, string>) {
    const body = new URLSearchParams({ Action: action, Version: versions[service], ...parameters });
    const response = await fetch(this.url, { method: 'POST', headers: this.#headers(service), body });
    const answer = await response.text();
    const result = response.ok ? this.#xml.parse(answer)?.[`${action}Response`]?.[`${action}Result`] : undefined;
    return { status: response.status, result };
  }

  /** The resources of a stack. Resources that moto did not create are not among them. */
  async resourcesOf(StackName: string): Promise<DeployedResource[]> {
    const { result } = await this.query('cloudformation', 'DescribeStackResources', { StackName });
    const members: Record<string, string>[] = result?.StackResources?.member ?? [];
    return members.flatMap(({ LogicalResourceId: logicalId, ResourceType: type, PhysicalResourceId: physicalId }) =>
      logicalId === undefined || type === undefined || physicalId === undefined ? [] : { logicalId, type, physicalId },
    );
  }

  /** Outputs of a stack by key; undefined if the stack does not exist. */
  async outputsOf(StackName: string): Promise<Record<string, string> | undefined> {
    const { result } = await this.query('cloudformation', 'DescribeStacks', { StackName });
    const [stack] = result?.Stacks?.member ?? [];
    if (stack === undefined) return undefined;
    const outputs: { OutputKey: string; OutputValue: string }[] = stack.Outputs?.member ?? [];
    return Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  }

  /** @throws Error with the status, if there is no such function */
  async configurationOf(functionName: string): Promise<DeployedConfiguration> {
    const response = await fetch(`${this.url}/2015-03-31/functions/${functionName}`, {
      headers: this.#headers('lambda'),
    });
    if (!response.ok) throw new Error(`GetFunction ${functionName} failed: ${response.status}`);
    return functionSchema.parse(await response.json()).Configuration;
  }

  /** The inline policies of a role. */
  async policiesOf(RoleName: string): Promise<RolePolicy[]> {
    const { result } = await this.query('iam', 'ListRolePolicies', { RoleName });
    const names: string[] = result?.PolicyNames?.member ?? [];
    const policies = names.map(async (PolicyName) => {
      const policy = await this.query('iam', 'GetRolePolicy', { RoleName, PolicyName });
      return rolePolicySchema.parse(JSON.parse(decodeURIComponent(policy.result.PolicyDocument)));
    });
    return Promise.all(policies);
  }

  #headers(service: string): Record<string, string> {
    const scope = `${credentials.accessKeyId}/20261120/${region}/${service}/aws4_request`;
    return { Authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none` };
  }
}
