import { Annotations, ArnFormat, Stack, Token, Validations } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Bucket, CfnBucket, LifecycleRule } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { CollectorConfig } from './config/config';
import { allow, through } from './policy-statements';

export interface ReplicationProps {
  /** The bucket of the archive. */
  readonly bucket: Bucket;
  readonly target: NonNullable<CollectorConfig['archive']['replicateTo']>;
  /** ARNs of the customer keys that encrypt the archive, and that did so before. */
  readonly keyArns: readonly string[];
  /** How objects of the archive expire. */
  readonly lifecycle: readonly LifecycleRule[];
}

/** What S3 counts of the copies. */
export interface ReplicationMetrics {
  /** Objects that S3 could not copy. It does not try again: a batch replication job does. */
  readonly failed: Metric;
  /** Seconds by which the copy is behind. */
  readonly latency: Metric;
}

/** Name of the only rule, which is a dimension of its metrics. */
const ruleId = 'everything';

const readActions = [
  's3:GetObjectVersionForReplication',
  's3:GetObjectVersionAcl',
  's3:GetObjectVersionTagging',
  's3:GetObjectRetention',
  's3:GetObjectLegalHold',
];

/**
 * Copies every object version, with its lock, to another bucket, by S3 itself. Deletions are not copied.
 *
 * Documented: a bucket that can lock replicates only to a bucket that can, and the role then needs GetObjectRetention and
 * GetObjectLegalHold (S3 user guide, "Object Lock considerations", "Using Object Lock with S3 Replication").
 */
export class Replication extends Construct {
  readonly metrics: ReplicationMetrics;

  constructor(scope: Construct, id: string, { bucket, target, keyArns, lifecycle }: ReplicationProps) {
    super(scope, id);
    const { bucketArn, account, kmsKeyArn } = target;
    const isElsewhere = account !== undefined && account !== Stack.of(this).account;
    const bucketName = bucketArn.split(':').at(-1) ?? '';
    // Without a condition on the source account: S3 does not document that it names one when it replicates.
    const role = new Role(this, 'Role', {
      description: 'Lets S3 copy the archive to another bucket; deletions are not copied',
      assumedBy: new ServicePrincipal('s3.amazonaws.com'),
    });
    const source = bucket.node.defaultChild as CfnBucket;
    allow(role, 'WriteCopies', writeActions(isElsewhere), [`${bucketArn}/*`]);
    if (kmsKeyArn !== undefined) this.#grantKeys(role, keyArns, kmsKeyArn);
    allow(role, 'ReadConfiguration', ['s3:GetReplicationConfiguration', 's3:ListBucket'], [bucket.bucketArn]);
    allow(role, 'ReadVersions', readActions, [bucket.arnForObjects('*')]);
    for (const copied of [bucketArn, `<${Stack.of(this).getLogicalId(source)}.Arn>`])
      Validations.of(role).acknowledge({
        id: `AwsSolutions-IAM5[Resource::${copied}/*]`,
        reason: 'Everything in the archive is copied.',
      });
    source.replicationConfiguration = { role: role.roleArn, rules: [ruleOf(target, isElsewhere)] };
    const dimensionsMap = { SourceBucket: bucket.bucketName, DestinationBucket: bucketName, RuleId: ruleId };
    const metric = (metricName: string, statistic: string) =>
      new Metric({ namespace: 'AWS/S3', metricName, dimensionsMap, statistic });
    this.metrics = {
      failed: metric('OperationsFailedReplication', 'Sum'),
      latency: metric('ReplicationLatency', 'Maximum'),
    };
    if (isElsewhere) this.#printPolicies(target);
    this.#printLifecycle(bucketName, lifecycle);
  }

  /** Former keys too: what is pending when a key changes, and what a batch copies later, was encrypted with them. */
  #grantKeys(role: Role, keyArns: readonly string[], targetKeyArn: string): void {
    const { region } = Stack.of(this).splitArn(targetKeyArn, ArnFormat.SLASH_RESOURCE_NAME);
    const write = ['kms:Encrypt', 'kms:GenerateDataKey'];
    allow(role, 'ReadWithKeys', ['kms:Decrypt'], [...keyArns], through('s3'));
    allow(role, 'WriteWithKey', write, [targetKeyArn], through('s3', region));
  }

  /** The owner of the other bucket has to allow what the role does: its own policy does not reach that far. */
  #printPolicies({ bucketArn, kmsKeyArn }: ReplicationProps['target']): void {
    const { account } = Stack.of(this);
    // The account and not the role, because the role does not exist before the first deployment.
    const principal = { AWS: `arn:aws:iam::${Token.isUnresolved(account) ? 'ACCOUNT' : account}:root` };
    const allow = (Action: string[], Resource: string) =>
      JSON.stringify({ Sid: 'CollectorCopies', Effect: 'Allow', Principal: principal, Action, Resource }, undefined, 2);
    const texts = [
      `The policy of the bucket ${bucketArn} has to allow:\n${allow(writeActions(true), `${bucketArn}/*`)}`,
    ];
    if (kmsKeyArn !== undefined)
      texts.push(
        `The policy of the key ${kmsKeyArn} has to allow:\n${allow(['kms:Encrypt', 'kms:GenerateDataKey'], '*')}`,
      );
    if (Token.isUnresolved(account)) texts.push('ACCOUNT is the account of this stack.');
    Annotations.of(this).addInfoV2('cluster-log-collector:policies-of-the-copy', `${texts.join('\n')}\n`);
  }

  /** S3 replicates neither expirations nor deletions, so a copy without rules of its own keeps everything for ever. */
  #printLifecycle(bucketName: string, lifecycle: readonly LifecycleRule[]): void {
    const rules = lifecycle.flatMap(({ id, prefix, expiration, noncurrentVersionExpiration }) =>
      expiration === undefined
        ? []
        : {
            ID: id,
            Status: 'Enabled',
            Filter: { Prefix: prefix },
            Expiration: { Days: expiration.toDays() },
            NoncurrentVersionExpiration: { NoncurrentDays: noncurrentVersionExpiration?.toDays() },
          },
    );
    if (rules.length === 0) return;
    Annotations.of(this).addInfoV2(
      'cluster-log-collector:lifecycle-of-the-copy',
      `The lifecycle of the archive is not copied. For the same days, write this to copy.json, and type with credentials of ` +
        `its account: aws s3api put-bucket-lifecycle-configuration --bucket ${bucketName} ` +
        `--lifecycle-configuration file://copy.json\n${JSON.stringify({ Rules: rules }, undefined, 2)}\n`,
    );
  }
}

/** What is copied, and how. @param isElsewhere whether the copy is in another account */
function ruleOf(
  { bucketArn, account, kmsKeyArn }: ReplicationProps['target'],
  isElsewhere: boolean,
): CfnBucket.ReplicationRuleProperty {
  return {
    id: ruleId,
    status: 'Enabled',
    priority: 0,
    filter: { prefix: '' },
    deleteMarkerReplication: { status: 'Disabled' },
    destination: {
      bucket: bucketArn,
      // S3 counts failures only with it.
      metrics: { status: 'Enabled' },
      // The other account owns its copies, whatever its bucket says of ownership.
      ...(isElsewhere && { account, accessControlTranslation: { owner: 'Destination' } }),
      ...(kmsKeyArn !== undefined && { encryptionConfiguration: { replicaKmsKeyId: kmsKeyArn } }),
    },
    ...(kmsKeyArn !== undefined && { sourceSelectionCriteria: { sseKmsEncryptedObjects: { status: 'Enabled' } } }),
  };
}

/** What the role does in the other bucket. ReplicateDelete is not among it. */
function writeActions(isElsewhere: boolean): string[] {
  const actions = ['s3:ReplicateObject', 's3:ReplicateTags'];
  return isElsewhere ? [...actions, 's3:ObjectOwnerOverrideToBucketOwner'] : actions;
}
