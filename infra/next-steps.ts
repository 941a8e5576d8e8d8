import { Aws, CfnOutput } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { ApiKeySecret } from './api-key-secret';
import type { CollectorConfig } from './config/config';

export interface NextStepsProps {
  readonly config: CollectorConfig;
  readonly apiKeySecret: ApiKeySecret;
  readonly archiveBucket: IBucket;
  readonly function: IFunction;
  readonly logGroup: ILogGroup;
  /** Works on a fleet in shards; undefined if there is one shard. */
  readonly stateMachine?: IStateMachine | undefined;
}

/** The stack's outputs: what to type and where to look after a deployment, in the order of use. */
export class NextSteps extends Construct {
  constructor(scope: Construct, id: string, props: NextStepsProps) {
    super(scope, id);
    const { config, apiKeySecret, archiveBucket, function: target, logGroup, stateMachine } = props;
    const home = `https://${Aws.REGION}.console.aws.amazon.com`;
    const region = `region=${Aws.REGION}`;
    this.#output(
      'SetApiKey',
      apiKeySecret.isOwn
        ? 'First: type this, then the API key, then Enter'
        : 'To change the API key: type this, then the key',
      // Read without echo and passed by standard input: an argument would stay in the shell's history.
      `read -rs KEY && printf %s "$KEY" | aws secretsmanager put-secret-value --region ${Aws.REGION} ` +
        `--secret-id '${apiKeySecret.secretId}' --secret-string file:///dev/stdin; unset KEY`,
    );
    if (stateMachine === undefined)
      this.#output(
        'CollectNow',
        'Collects everything now and shows the result',
        // Without the option, the command line gives up after a minute and starts a second run.
        `aws lambda invoke --region ${Aws.REGION} --function-name ${target.functionName} --cli-read-timeout 0 ` +
          `--cli-binary-format raw-in-base64-out --payload '{}' /dev/stdout`,
      );
    else {
      const arn = stateMachine.stateMachineArn;
      this.#output(
        'CollectNow',
        'Collects everything now, in all shards',
        `aws stepfunctions start-execution --region ${Aws.REGION} --state-machine-arn ${arn} --input '{}'`,
      );
      this.#output(
        'RunsConsole',
        'Runs in shards, and how they ended',
        `${home}/states/home?${region}#/statemachines/view/${arn}`,
      );
    }
    this.#output(
      'TestConsole',
      'Starts runs by hand in the console',
      `${home}/lambda/home?${region}#/functions/${target.functionName}?tab=testing`,
    );
    this.#output('ArchiveConsole', 'What was archived', `${home}/s3/buckets/${archiveBucket.bucketName}?${region}`);
    this.#output('ArchiveBucket', "The archive's bucket", archiveBucket.bucketName);
    this.#output(
      'LogConsole',
      "The function's log",
      `${home}/cloudwatch/home?${region}#logsV2:log-groups/log-group/${logGroup.logGroupName}`,
    );
    this.#output(
      'DashboardConsole',
      'Is it well?',
      `${home}/cloudwatch/home?${region}#dashboards/dashboard/${config.name}`,
    );
  }

  #output(id: string, description: string, value: string): void {
    new CfnOutput(this, id, { description, value }).overrideLogicalId(id);
  }
}
