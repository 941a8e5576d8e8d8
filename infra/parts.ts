import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { Alerts } from './alerts';
import { ApiKeySecret } from './api-key-secret';
import { Archive } from './archive';
import { Audit } from './audit';
import { Collector } from './collector';
import type { CollectorConfig } from './config/config';
import { FailureMessages } from './failure-messages';
import { FanOut } from './fan-out';
import { RunSchedule } from './run-schedule';
import { logicalStart, type StackAddress } from './stack-address';

/** What a collector consists of, for what watches it and what links to it. */
export type Parts = ReturnType<typeof createParts>;

/** Creates one construct per concern, each with the rights on those that it uses. */
export function createParts(scope: Construct, config: CollectorConfig) {
  const { name, alerts } = config;
  const stack = Stack.of(scope);
  const ids = scope.node.scopes.slice(stack.node.scopes.length).map(({ node }) => node.id);
  const address: StackAddress = { stack: stack.stackName, place: logicalStart(ids) };
  /** Gets the alarms that wake people. */
  const page = new Alerts(scope, 'Alerts', name, alerts.page);
  /** Gets everything else; the same as `page` if there is one group. */
  const inform = alerts.inform ? new Alerts(scope, 'Inform', `${name}-inform`, alerts.inform) : page;
  /** Keeps what could not be delivered as long as SQS can: starts of runs and audits, failure reports. One, for one alarm. */
  const deadLetterQueue = new Queue(scope, 'DeadLetters', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  Validations.of(deadLetterQueue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue itself.',
  });
  const failures = new FailureMessages(scope, 'FailureMessages', { config, page, inform, deadLetterQueue });
  const archive = new Archive(scope, 'Archive', { config });
  const apiKeySecret = new ApiKeySecret(scope, 'ApiKey', { config });
  const collector = new Collector(scope, 'Collector', { config, address, archive, apiKeySecret, failures });
  /** Works on the shards of a fleet that is too large for one invocation; undefined if there is one shard. */
  const stateMachine =
    config.shards > 1 ? new FanOut(scope, 'FanOut', config, address, collector.function).stateMachine : undefined;
  if (stateMachine !== undefined) failures.reportOf(stateMachine);
  const schedule = new RunSchedule(scope, 'Schedule', {
    description: `Starts the runs of ${name}`,
    roleDescription: 'Lets the schedule start the collector and keep what it could not deliver',
    schedule: config.schedule,
    function: collector.function,
    stateMachine,
    deadLetterQueue,
  });
  /** Verifies and seals the archive; undefined if nothing does. */
  const audit =
    config.audit &&
    new Audit(scope, 'Audit', {
      config,
      settings: config.audit,
      address,
      archive,
      page,
      inform,
      failures,
      deadLetterQueue,
    });
  return {
    config,
    address,
    apiKeySecret,
    archive,
    collector,
    stateMachine,
    schedule,
    audit,
    failures,
    deadLetterQueue,
    page,
    inform,
  };
}
