import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Alerts } from '../../infra/alerts';
import type { WatchedAudit } from '../../infra/audit-alarms';
import { FailureMessages } from '../../infra/failure-messages';
import { Observability } from '../../infra/observability';
import { longestGap } from '../../lambda/schedule/cron-gap';
import { exampleConfig } from './example-config';

const root = join(__dirname, '..', '..');
const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'));

export const operations = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
export const alarmsGuide = readFileSync(join(root, 'docs', 'alarms.md'), 'utf8');

export interface Setup {
  readonly schedule?: { readonly expression?: string; readonly timeZone?: string; readonly enabled?: boolean };
  readonly name?: string;
  /** Left out: one address. */
  readonly alerts?: { readonly emails?: string[]; readonly topicArn?: string; readonly kmsKeyArn?: string };
  /** Whether the rest goes to another topic than what wakes people. */
  readonly informed?: boolean;
  readonly oneRunAtATime?: boolean;
  /** Whether the archive is copied to another bucket. */
  readonly copied?: boolean;
  /** Shards of the fleet; left out: one function without a state machine. */
  readonly shards?: number;
  /** Left out: no audit. */
  readonly audit?: { readonly schedule: string } & Partial<
    Pick<WatchedAudit, 'staleAfterHours' | 'frozenAfterHours' | 'alarmOnLogGaps'>
  >;
}

/** A stack with alerts and observability only. What they watch is imported. */
export function observedStack(setup: Setup = {}) {
  const { name = 'observed', schedule, alerts: changes, copied = false, shards, audit } = setup;
  const { informed = false, oneRunAtATime = false } = setup;
  // The check takes seconds, and synth.soak.test.ts has it.
  const app = new App({
    context: { ...context, 'aws:cdk:bundling-stacks': [] },
    builtinCloudFormationValidation: false,
  });
  const stack = new Stack(app, 'observed', { env: { account: '111111111111', region: 'eu-central-1' } });
  const config = {
    name,
    schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true, ...schedule },
    limits: { ...exampleConfig().limits, oneRunAtATime },
    shards: shards ?? 1,
  };
  const alerts = new Alerts(stack, 'Alerts', { name, recipients: { emails: ['on-call@example.com'], ...changes } });
  const inform = informed ? new Alerts(stack, 'Inform', { name, recipients: { emails: ['day@example.com'] } }) : alerts;
  const failures = new FailureMessages(stack, 'FailureMessages', { config, alerts });
  const arn = (service: string, name: string) => `arn:aws:${service}:eu-central-1:111111111111:${name}`;
  const stateMachine = sfn.StateMachine.fromStateMachineArn(stack, 'Shards', arn('states', 'stateMachine:shards'));
  if (shards !== undefined) failures.tellOf(stateMachine);
  const observability = new Observability(stack, 'Observability', {
    config,
    page: alerts,
    inform,
    failures,
    function: lambda.Function.fromFunctionName(stack, 'Function', 'collector'),
    logGroup: logs.LogGroup.fromLogGroupName(stack, 'Logs', '/collector'),
    deadLetterQueue: sqs.Queue.fromQueueArn(stack, 'Queue', arn('sqs', 'lost')),
    archiveBucket: s3.Bucket.fromBucketName(stack, 'Bucket', 'archive'),
    failedReplications: copied ? new cloudwatch.Metric({ namespace: 'AWS/S3', metricName: 'Failed' }) : undefined,
    audit: audit && {
      ...audit,
      gap: longestGap(audit.schedule, 'Etc/UTC'),
      function: lambda.Function.fromFunctionName(stack, 'Audit', 'audit'),
      deadLetterQueue: sqs.Queue.fromQueueArn(stack, 'AuditQueue', arn('sqs', 'audits-lost')),
    },
    fanOut: shards === undefined ? undefined : { shards, stateMachine },
  });
  return { app, stack, alerts, observability, template: () => Template.fromStack(stack) };
}

/** Throws what cdk-nag finds. */
export function checkSolutions(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
}
