import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/**
 * The queue of the whole stack for starts of runs and audits, and failure reports, that could not be delivered. It keeps them
 * for 14 days, the longest that SQS keeps a message. One queue, so that one alarm holds until it is empty.
 */
export function createDeadLetterQueue(scope: Construct): Queue {
  const queue = new Queue(scope, 'DeadLetters', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  Validations.of(queue).acknowledge({ id: 'AwsSolutions-SQS3', reason: 'This is the dead-letter queue itself.' });
  return queue;
}
