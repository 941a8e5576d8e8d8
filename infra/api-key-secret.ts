import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { CollectorEnvironment } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { allow, through } from './policy-statements';

/** The secret that holds the service's API key: an existing one, or the stack's own, which is created empty. */
export class ApiKeySecret extends Construct {
  /** Value for `aws secretsmanager --secret-id`. */
  readonly secretId: string;
  /** Whether the stack creates the secret. Somebody then has to put the key into it. */
  readonly isOwn: boolean;
  readonly #arn: string;
  readonly #kmsKeyArn: string | undefined;

  constructor(scope: Construct, id: string, { config }: { readonly config: CollectorConfig }) {
    super(scope, id);
    const { name, apiKeySecret: existing } = config;
    this.isOwn = existing === undefined;
    this.#kmsKeyArn = existing?.kmsKeyArn;
    this.#arn = existing === undefined ? this.#createEmpty(name).ref : this.#arnOf(existing.name);
    this.secretId = existing?.name ?? this.#arn;
  }

  /** Lets the role read the key. Returns the environment in which the function finds it. */
  provideTo(role: IRole): Pick<CollectorEnvironment, 'API_KEY_SECRET'> {
    allow(role, 'ReadApiKey', ['secretsmanager:GetSecretValue'], [this.#arn]);
    if (this.#kmsKeyArn !== undefined)
      allow(role, 'DecryptApiKey', ['kms:Decrypt'], [this.#kmsKeyArn], through('secretsmanager'));
    return { API_KEY_SECRET: this.secretId };
  }

  /** In an ARN, Secrets Manager appends a hyphen and six characters to the name. */
  #arnOf(name: string): string {
    return `${Secret.fromSecretNameV2(this, 'Existing', name).secretArn}-??????`;
  }

  /** Not the L2 construct: it always generates a value, and the collector would send that value to the service. */
  #createEmpty(name: string): CfnSecret {
    const secret = new CfnSecret(this, 'Secret', {
      description: `API key of the cluster service that ${name} reads; a plain string, or JSON with the member apiKey`,
    });
    // Kept once it is deployed; not after a failed first deployment, or each try would leave a secret behind.
    secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'The service issues the key and offers no call to issue another, so nothing here could rotate it. ' +
        'Each attempt reads it anew, and again when the service rejects it.',
    });
    return secret;
  }
}
