import { Annotations, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { AuditPlan } from '../archive/format/plan';
import { type AuditEnvironment, auditFile } from '../lambda/stack-contract';
import type { Alerts } from './alerts';
import type { Archive } from './archive';
import { auditsKeepUp, rereadDaysFor } from './audit-load';
import type { CollectorConfig } from './config/config';
import type { FailureMessages } from './failure-messages';
import { provideHeartbeat } from './heartbeat';
import { oneProcessorMiB } from './limits';
import { createNodeFunction } from './node-function';
import { allow, everybody, refusal } from './policy-statements';
import { RunSchedule } from './run-schedule';
import type { StackAddress } from './stack-address';

type AuditSettings = NonNullable<CollectorConfig['audit']>;

export interface AuditProps {
  readonly config: CollectorConfig;
  readonly settings: AuditSettings;
  readonly address: StackAddress;
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
  readonly function: IFunction;
  /** The stack's own key, or an existing one. */
  readonly signingKey: IKey;
  /** The statement that an existing key needs, as JSON; undefined: the stack's own key has it. */
  readonly statementOfKey: string | undefined;
  readonly schedule: RunSchedule;
  readonly settings: AuditSettings;

  constructor(scope: Construct, id: string, props: AuditProps) {
    super(scope, id);
    const { config, settings, address, archive, page, inform, failures, deadLetterQueue } = props;
    this.settings = settings;
    const { signingKeyArn } = settings;
    this.signingKey =
      signingKeyArn === undefined
        ? this.#createKey(config.name)
        : Key.fromKeyArn(this, 'ExistingSigningKey', signingKeyArn);
    const plan = auditPlanOf(config, settings);
    const { keyArn } = this.signingKey;
    const { function: target, role } = createNodeFunction(this, {
      config,
      description: `Verifies and seals the archive of ${config.name}`,
      entry: 'audit/handler.ts',
      dataFile: { name: auditFile, content: plan },
      // It hashes and compares all the time. 200,000 clusters need half of this memory (docs/background.md).
      memoryMiB: oneProcessorMiB,
      roleDescription: 'What the audit may do: read the archive, add signed seals to it, tell people and nothing else',
      onFailure: (role) => failures.destinationFor(role),
      provide: (role): AuditEnvironment => {
        for (const group of new Set([page, inform])) group.grantPublish(role);
        const ofArchive = archive.provideToAudit(role);
        allow(role, 'SignSeals', ['kms:Sign', 'kms:GetPublicKey'], [keyArn]);
        return {
          ...ofArchive,
          SIGNING_KEY_ARN: keyArn,
          TOPIC_ARN: inform.topic.topicArn,
          PAGE_TOPIC_ARN: page.topic.topicArn,
          ...provideHeartbeat(role, config, address),
        };
      },
    });
    this.function = target;
    const statement = signedBy(role);
    // The policy of an existing key is its owner's; doctor looks whether it has the statement.
    const { statementAdded } = this.signingKey.addToResourcePolicy(statement);
    this.statementOfKey = statementAdded ? undefined : Stack.of(this).toJsonString(statement.toStatementJson());
    const { auditSchedule: schedule } = plan;
    this.schedule = new RunSchedule(this, 'Schedule', {
      description: `Starts the audits of ${config.name}`,
      roleDescription: 'Lets the schedule start the audit and keep what it could not deliver',
      schedule,
      // Who reports failures tells by it that no run was lost.
      marks: { audit: true },
      function: target,
      deadLetterQueue,
    });
    if (!auditsKeepUp(config, schedule, new Date())) this.#warnOfBehind();
  }

  #warnOfBehind(): void {
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:audit-behind',
      'audit.schedule cannot keep up with schedule: every audit would leave more for the next one. Audit more often, or ' +
        'collect less often: docs/operations.md, "How often to audit", says how often.',
    );
  }

  #createKey(name: string): Key {
    return new Key(this, 'SigningKey', {
      alias: `${name}-seals`,
      description: `Signs the seals of the archive of ${name}; they stay checkable without it`,
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      // A new key in every deployment would make old and new seals look as if two parties had signed them.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
  }
}

/** For the key's own policy: refuses to sign to everybody but the audit, whatever the account's policies allow. */
function signedBy(role: IRole): PolicyStatement {
  const byOthers = { ArnNotEquals: { 'aws:PrincipalArn': role.roleArn } };
  return refusal('SignedByAuditOnly', everybody, ['kms:Sign'], ['*'], byOthers);
}

/** The part of the configuration that the audit judges the archive by. */
export function auditPlanOf(config: CollectorConfig, settings: AuditSettings): AuditPlan {
  const { clusters, clusterList, schedule, archive, shards } = config;
  const { rereadDays, alarms, formerPublicKeys, timestamps, acknowledged = [] } = settings;
  const auditSchedule = { expression: settings.schedule, timeZone: schedule.timeZone, enabled: true };
  return {
    clusters: clusters.map(({ uid, resources, optional }) => ({ uid, resources, optional })),
    clusterList: clusterList && {
      from: clusterList.from,
      leaveAfterDays: clusterList.leaveAfterDays,
      exclude: clusterList.exclude,
    },
    schedule,
    auditSchedule,
    retentionDays: archive.retentionDays,
    shards,
    rereadDays: (rereadDays ?? rereadDaysFor(config, auditSchedule, new Date())) || undefined,
    frozenAfterHours: alarms?.frozenAfterHours,
    formerPublicKeys,
    timestamps,
    ...dividedBy(acknowledged),
  };
}

/** The entries of `audit.acknowledged` by what they are about; empty lists are left out. */
function dividedBy(
  all: NonNullable<AuditSettings['acknowledged']>,
): Pick<AuditPlan, 'acknowledged' | 'erased' | 'shorterRetentions'> {
  const lists = {
    acknowledged: all.filter((one) => 'key' in one),
    erased: all.flatMap((one) =>
      'cluster' in one
        ? { ...one, ...(one.from && { from: startOf(one.from) }), ...(one.to && { to: endOf(one.to) }) }
        : [],
    ),
    shorterRetentions: all.filter((one) => 'retentionDays' in one),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

/** A day means all of it. */
const startOf = (time: string) => new Date(time).toISOString();
const endOf = (time: string) => (time.length === 10 ? `${time}T23:59:59.999Z` : new Date(time).toISOString());
