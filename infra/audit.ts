import { Annotations, RemovalPolicy } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { firingsOf } from '../lambda/schedule/firings';
import { type AuditEnvironment, type AuditPlan, auditFile } from '../lambda/stack-contract';
import { deadlineReserveSeconds, functionTimeoutSeconds } from '../lambda/time-limits';
import type { Alerts } from './alerts';
import type { Archive } from './archive';
import type { CollectorConfig } from './config/config';
import type { FailureMessages } from './failure-messages';
import { allow, refuse } from './grants';
import { oneProcessorMiB } from './limits';
import { createNodeFunction } from './node-function';
import { RunSchedule } from './run-schedule';

type AuditSettings = NonNullable<CollectorConfig['audit']>;

export interface AuditProps {
  readonly config: CollectorConfig;
  readonly settings: AuditSettings;
  readonly archive: Archive;
  /** Get the mails about damage. */
  readonly page: Alerts;
  /** Get all mails of the audit. */
  readonly inform: Alerts;
  /** Gets the audits that fail for good. */
  readonly failures: FailureMessages;
  /** Receives what the scheduler could not start. */
  readonly deadLetterQueue: IQueue;
}

/**
 * The function that verifies and seals the archive, with its role, its schedule and the key that signs seals. Who
 * archives and who attests are two roles: neither may do what the other does. test/infra/audit.test.ts lists all grants.
 */
export class Audit extends Construct {
  readonly function: NodejsFunction;
  readonly signingKey: Key;
  readonly schedule: RunSchedule;
  readonly settings: AuditSettings;

  constructor(scope: Construct, id: string, props: AuditProps) {
    super(scope, id);
    const { config, settings, archive, page, inform, failures, deadLetterQueue } = props;
    this.settings = settings;
    this.signingKey = new Key(this, 'SigningKey', {
      alias: `${config.name}-seals`,
      description: `Signs the seals of the archive of ${config.name}; they stay checkable without it`,
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      // A new key in every deployment would make old and new seals look as if two parties had signed them.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const plan = auditPlanOf(config, settings);
    const { function: target } = createNodeFunction(this, {
      config,
      description: `Verifies and seals the archive of ${config.name}`,
      entry: 'audit-handler.ts',
      dataFile: { name: auditFile, content: plan },
      // It hashes and compares all the time. 200,000 clusters need half of this memory (docs/background.md).
      memoryMiB: oneProcessorMiB,
      roleDescription: 'What the audit may do: read the archive, add signed seals to it, tell people and nothing else',
      onFailure: (role) => failures.destinationFor(role),
      provide: (role): AuditEnvironment => {
        for (const group of new Set([page, inform])) group.grantPublish(role);
        return {
          ...archive.provideToAudit(role),
          ...this.#provideKey(role),
          TOPIC_ARN: inform.topic.topicArn,
          PAGE_TOPIC_ARN: page.topic.topicArn,
        };
      },
    });
    this.function = target;
    const { auditSchedule: schedule } = plan;
    this.schedule = new RunSchedule(this, 'Schedule', {
      description: `Starts the audits of ${config.name}`,
      roleDescription: 'Lets the schedule start the audit and keep what it could not deliver',
      schedule,
      function: target,
      deadLetterQueue,
    });
    this.#warnIfBehind(auditLoad(config, schedule, new Date()));
  }

  #warnIfBehind({ keepsUp, perDay }: ReturnType<typeof auditLoad>): void {
    if (keepsUp) return;
    const advice =
      perDay === undefined
        ? 'No schedule can: divide the fleet among several stacks.'
        : `Start it ${perDay} times a day, or collect less often.`;
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:audit-behind',
      `audit.schedule cannot keep up with schedule: every audit would leave more for the next one. ${advice} ` +
        'docs/operations.md, "How often to audit", has the table.',
    );
  }

  /** The key's own policy denies everybody else to sign, whatever the account's policies allow. */
  #provideKey(role: IRole): Pick<AuditEnvironment, 'SIGNING_KEY_ARN'> {
    const { keyArn } = this.signingKey;
    allow(role, 'SignSeals', ['kms:Sign', 'kms:GetPublicKey'], [keyArn]);
    const byOthers = { ArnNotEquals: { 'aws:PrincipalArn': role.roleArn } };
    refuse(this.signingKey, 'SignedByAuditOnly', 'everybody', ['kms:Sign'], ['*'], byOthers);
    return { SIGNING_KEY_ARN: keyArn };
  }
}

/** The part of the configuration that the audit judges the archive by. */
export function auditPlanOf(
  { clusters, schedule, archive, shards }: CollectorConfig,
  { schedule: expression, timeZone = schedule.timeZone, alarmOnLogGaps: _, ...settings }: AuditSettings,
): AuditPlan {
  return {
    clusters: clusters.map(({ uid, resources, optional }) => ({ uid, resources, optional })),
    schedule,
    auditSchedule: { expression, timeZone, enabled: true },
    retentionDays: archive.retentionDays,
    shards,
    ...settings,
  };
}

/** Seconds that an audit takes for one request to S3: measured, docs/background.md, "What an audit takes". */
const secondsPerRequest = 0.003;

/** Most requests of one audit. */
const mostRequests = (functionTimeoutSeconds - deadlineReserveSeconds) / secondsPerRequest;

/** Span in which runs and audits are counted, in days: a month's calendar has at least so many. */
const days = 28;

type Times = Pick<CollectorConfig['schedule'], 'expression' | 'timeZone'>;

/**
 * Whether audits read as much as runs archive, and how many per day would; undefined: no number would.
 *
 * An audit lists what every cluster has of each resource, and reads every new object. What it does not reach is carried
 * over, so that the sum over some weeks decides and not the busiest day.
 * @param schedule of the audit
 */
export function auditLoad(
  { clusters, schedule: ofRuns }: Pick<CollectorConfig, 'clusters' | 'schedule'>,
  schedule: Times,
  now: Date,
) {
  const objectsPerRun = clusters.reduce((sum, { resources }) => sum + (resources?.length ?? 2), 0);
  const runs = ofRuns.enabled ? firingsIn(ofRuns, now) : 0;
  const audits = firingsIn(schedule, now);
  const toRead = runs * objectsPerRun;
  const forReading = mostRequests - objectsPerRun;
  const perDay = Math.ceil(toRead / forReading / days);
  // A schedule that fires less than once in the span is not judged.
  return { keepsUp: audits === 0 || toRead <= audits * forReading, perDay: forReading > 0 ? perDay : undefined };
}

function firingsIn({ expression, timeZone }: Times, from: Date): number {
  const until = new Date(from.getTime() + days * 86_400_000);
  return [...firingsOf(expression, timeZone).between(from, until)].length;
}
