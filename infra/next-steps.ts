import { Aws, CfnOutput } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Alerts } from './alerts';
import type { ApiKeySecret } from './api-key-secret';
import type { Archive } from './archive';
import type { Audit } from './audit';
import type { Collector } from './collector';
import type { CollectorConfig } from './config/config';
import { dashboardName } from './dashboard';

export interface NextStepsProps {
  readonly config: CollectorConfig;
  readonly apiKeySecret: ApiKeySecret;
  readonly archive: Archive;
  readonly collector: Collector;
  readonly page: Alerts;
  /** The same as `page` if there is one list of recipients. */
  readonly inform: Alerts;
  /** Works on a fleet in shards; undefined if there is one shard. */
  readonly stateMachine: IStateMachine | undefined;
  /** Verifies and seals the archive; undefined if nothing does. */
  readonly audit: Audit | undefined;
}

/** The stack's outputs: what to type and where to look after a deployment, in the order of use. */
export class NextSteps extends Construct {
  constructor(scope: Construct, id: string, props: NextStepsProps) {
    super(scope, id);
    const { config, apiKeySecret, archive, collector, stateMachine, page, inform } = props;
    const { function: target, logGroup } = collector;
    const { bucketName } = archive.bucket;
    const home = `https://${Aws.REGION}.console.aws.amazon.com`;
    const region = `region=${Aws.REGION}`;
    // Not for an existing secret, which may hold more than the key: the command replaces the whole value.
    if (apiKeySecret.isOwn)
      this.#output(
        'SetApiKey',
        'First: type this, then the API key, then Enter',
        // Read without echo and passed by standard input: an argument would stay in the shell's history.
        `read -rs KEY && printf %s "$KEY" | aws secretsmanager put-secret-value --region ${Aws.REGION} ` +
          `--secret-id '${apiKeySecret.secretId}' --secret-string file:///dev/stdin; unset KEY`,
      );
    if (stateMachine === undefined)
      this.#output(
        'CollectNow',
        'Starts to collect everything now; "npm run collector -- runs" shows what became of it',
        invokeCommand(target),
      );
    else {
      const arn = stateMachine.stateMachineArn;
      this.#output(
        'CollectNow',
        'Starts to collect everything now, in all shards',
        `aws stepfunctions start-execution --region ${Aws.REGION} --state-machine-arn ${arn} --input '{}'`,
      );
      this.#output(
        'RunsConsole',
        'Runs in shards, and how they ended',
        `${home}/states/home?${region}#/statemachines/view/${arn}`,
      );
    }
    if (props.audit !== undefined) this.#auditOutputs(props.audit);
    this.#output(
      'TestConsole',
      'Starts runs by hand in the console',
      `${home}/lambda/home?${region}#/functions/${target.functionName}?tab=testing`,
    );
    this.#output('ArchiveConsole', 'What was archived', `${home}/s3/buckets/${bucketName}?${region}`);
    this.#output('ArchiveBucket', "The archive's bucket", bucketName);
    if (archive.key !== undefined)
      this.#output(
        'ArchiveKey',
        'Encrypts the archive; goes to formerKmsKeyArns if archive.kms changes',
        archive.key.keyArn,
      );
    this.#output(
      'LogConsole',
      "The function's log",
      `${home}/cloudwatch/home?${region}#logsV2:log-groups/log-group/${logGroup.logGroupName}`,
    );
    this.#output(
      'DashboardConsole',
      'Is it well?',
      `${home}/cloudwatch/home?${region}#dashboards/dashboard/${dashboardName(config.name)}`,
    );
    this.#output('AlertTopic', 'Gets alarms and failed runs: subscribe whoever has to know', page.topic.topicArn);
    if (inform !== page)
      this.#output('InformTopic', 'Gets what wakes nobody, and the mails of the audit', inform.topic.topicArn);
  }

  #auditOutputs({ function: target, signingKey }: Audit): void {
    this.#output(
      'ExportPublicKey',
      'On the first day: writes the public key of the seals to a file, to be kept outside of this account',
      `aws kms get-public-key --region ${Aws.REGION} --key-id ${signingKey.keyArn} --query PublicKey --output text | ` +
        'openssl base64 -d -A | openssl pkey -pubin -inform DER -out seals-public-key.pem',
    );
    this.#output(
      'AuditNow',
      'Starts to verify and seal the archive now; a mail says what it found',
      invokeCommand(target),
    );
    this.#output('SigningKey', 'Signs the seals', signingKey.keyArn);
  }

  #output(id: string, description: string, value: string): void {
    new CfnOutput(this, id, { description, value }).overrideLogicalId(id);
  }
}

/**
 * Asynchronously: a connection that waits in silence for 15 minutes is cut by NAT gateways after 350 seconds (VPC user
 * guide, "Troubleshoot NAT gateways").
 */
function invokeCommand({ functionName }: IFunction): string {
  return (
    `aws lambda invoke --region ${Aws.REGION} --function-name ${functionName} --invocation-type Event ` +
    `--cli-binary-format raw-in-base64-out --payload '{}' /dev/stdout`
  );
}
