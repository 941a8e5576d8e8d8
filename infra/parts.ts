import { Duration, type Stack, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Alerts } from './alerts';
import { ApiKeySecret } from './api-key-secret';
import { Archive } from './archive';
import { Audit } from './audit';
import { Collector } from './collector';
import { type CollectorConfig, recipientsOf } from './config/config';
import { FailureMessages } from './failure-messages';
import { FanOut } from './fan-out';
import { RunSchedule } from './run-schedule';

/** What a stack consists of, for what watches it and what links to it. */
export type Parts = ReturnType<typeof createParts>;

/** Creates one construct per concern, each with the rights on those that it uses. */
export function createParts(stack: Stack, config: CollectorConfig) {
  const { name, alerts } = config;
  const recipients = recipientsOf(alerts);
  /** Gets the alarms that wake people. */
  const page = new Alerts(stack, 'Alerts', name, recipients.page);
  /** Gets everything else; the same as `page` if there is one list of recipients. */
  const inform = recipients.inform ? new Alerts(stack, 'Inform', `${name}-inform`, recipients.inform) : page;
  /** Keeps what could not be delivered as long as SQS can: starts of runs and audits, failure reports. One, for one alarm. */
  const deadLetterQueue = new Queue(stack, 'DeadLetters', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  Validations.of(deadLetterQueue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue itself.',
  });
  const failures = new FailureMessages(stack, 'FailureMessages', { config, page, inform, deadLetterQueue });
  const archive = new Archive(stack, 'Archive', { config });
  const apiKeySecret = new ApiKeySecret(stack, 'ApiKey', { config });
  const collector = new Collector(stack, 'Collector', { config, archive, apiKeySecret, failures });
  /** Works on the shards of a fleet that is too large for one invocation; undefined if there is one shard. */
  const stateMachine =
    config.shards > 1 ? new FanOut(stack, 'FanOut', config, collector.function).stateMachine : undefined;
  if (stateMachine !== undefined) failures.reportOf(stateMachine);
  const schedule = new RunSchedule(stack, 'Schedule', {
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
    new Audit(stack, 'Audit', { config, settings: config.audit, archive, page, inform, failures, deadLetterQueue });
  return {
    config,
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
