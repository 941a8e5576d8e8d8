import { Aws, CfnOutput } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { dashboardLink } from './dashboard';
import { retentionOutput, retentionText } from './deployed-retention';
import type { Parts } from './parts';

/** The stack's outputs: what to type and where to look after a deployment, in the order of use. */
export class NextSteps extends Construct {
  constructor(scope: Construct, id: string, parts: Parts) {
    super(scope, id);
    for (const [name, output] of Object.entries(outputsOf(parts))) {
      if (!output) continue;
      const [description, value] = output;
      new CfnOutput(this, name, { description, value }).overrideLogicalId(`${parts.address.place}${name}`);
    }
  }
}

/** By name; undefined or false: not of this stack. */
type Outputs = Record<string, readonly [description: string, value: string] | undefined | false>;

function outputsOf({ config, apiKeySecret, archive, collector, stateMachine, audit, page, inform }: Parts): Outputs {
  const { function: target } = collector;
  const { bucketName } = archive.bucket;
  const home = `https://${Aws.REGION}.console.aws.amazon.com`;
  const region = `region=${Aws.REGION}`;
  const machine = stateMachine?.stateMachineArn;
  return {
    // Not for an existing secret, which may hold more than the key: the command replaces the whole value.
    SetApiKey: apiKeySecret.isOwn && [
      'First: type this, then the API key, then Enter',
      // Read without echo and passed by standard input: an argument would stay in the shell's history.
      `read -rs KEY && printf %s "$KEY" | aws secretsmanager put-secret-value --region ${Aws.REGION} ` +
        `--secret-id '${apiKeySecret.secretId}' --secret-string file:///dev/stdin; unset KEY`,
    ],
    CollectNow:
      machine === undefined
        ? [
            'Starts to collect everything now; "npm run collector -- runs" shows what became of it',
            invokeCommand(target),
          ]
        : [
            'Starts to collect everything now, in all shards',
            `aws stepfunctions start-execution --region ${Aws.REGION} --state-machine-arn ${machine} --input '{}'`,
          ],
    RunsConsole: machine !== undefined && [
      'Runs in shards, and how they ended',
      `${home}/states/home?${region}#/statemachines/view/${machine}`,
    ],
    ExportPublicKey: audit && [
      'On the first day: writes the public key of the seals to a file, to be kept outside of this account',
      `aws kms get-public-key --region ${Aws.REGION} --key-id ${audit.signingKey.keyArn} --query PublicKey --output text | ` +
        'openssl base64 -d -A | openssl pkey -pubin -inform DER -out seals-public-key.pem',
    ],
    AuditNow: audit && [
      'Starts to verify and seal the archive now; a mail says what it found',
      invokeCommand(audit.function),
    ],
    SigningKey: audit && ['Signs the seals', audit.signingKey.keyArn],
    SigningKeyPolicy: audit?.statementOfKey !== undefined && [
      'Add this statement to the policy of the existing signing key: nobody but the audit may sign',
      audit.statementOfKey,
    ],
    TestConsole: [
      'Starts runs by hand in the console',
      `${home}/lambda/home?${region}#/functions/${target.functionName}?tab=testing`,
    ],
    CollectorRole: config.clusterList !== undefined && [
      'Reads the list of clusters from outside',
      target.role?.roleArn ?? '',
    ],
    ArchiveBucket: ["The archive's bucket", bucketName],
    ArchiveKey: archive.key && [
      'Encrypts the archive; goes to formerKmsKeyArns if archive.kms changes',
      archive.key.keyArn,
    ],
    [retentionOutput]: ['Days after which objects expire', retentionText(config.archive.retentionDays)],
    DashboardConsole: ['Is it well?', dashboardLink(config.name)],
    AlertTopic: ['Gets alarms and failed runs: subscribe whoever has to know', page.topic.topicArn],
    InformTopic: inform !== page && ['Gets what wakes nobody, and the mails of the audit', inform.topic.topicArn],
  };
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
