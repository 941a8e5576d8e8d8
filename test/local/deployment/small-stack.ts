import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  App,
  Duration,
  aws_lambda_destinations as destinations,
  aws_iam as iam,
  aws_lambda as lambda,
  Stack,
  aws_scheduler as scheduler,
  aws_sns as sns,
  aws_sqs as sqs,
} from 'aws-cdk-lib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';

/**
 * A schedule, a function that fails if its event says so, a topic for what failed for good, and a queue for what could
 * not be delivered: the parts of a deployment that can be tested without a bucket.
 */
export function synthesizeSmallStack(): CloudAssembly {
  const outdir = mkdtempSync(join(tmpdir(), 'small-stack-'));
  const code = join(outdir, 'code');
  mkdirSync(code);
  writeFileSync(
    join(code, 'index.js'),
    "exports.handler = async (event) => { console.log(JSON.stringify(event)); if (event.fail) throw new Error('told to'); return event; };",
  );
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false });
  const stack = new Stack(app, 'small');
  const topic = new sns.Topic(stack, 'Topic');
  const fn = new lambda.Function(stack, 'Function', {
    runtime: lambda.Runtime.NODEJS_LATEST,
    handler: 'index.handler',
    code: lambda.Code.fromAsset(code),
    retryAttempts: 1,
    maxEventAge: Duration.hours(1),
    onFailure: new destinations.SnsDestination(topic),
  });
  const queue = new sqs.Queue(stack, 'Undelivered');
  const role = new iam.Role(stack, 'SchedulerRole', { assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com') });
  fn.grantInvoke(role);
  queue.grantSendMessages(role);
  new scheduler.CfnSchedule(stack, 'Schedule', {
    flexibleTimeWindow: { mode: 'OFF' },
    scheduleExpression: 'cron(0 * * * ? *)',
    target: {
      arn: fn.functionArn,
      roleArn: role.roleArn,
      input: '{"scheduledTime":"<aws.scheduler.scheduled-time>"}',
      deadLetterConfig: { arn: queue.queueArn },
    },
  });
  return app.synth();
}
