import { Aws, type CfnResource, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { ArnPrincipal, Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type IBucket,
  type LifecycleRule,
  ObjectLockRetention,
  ObjectOwnership,
  StorageClass,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { configurationsPrefix, runsPrefix } from '../lambda/archive/archive-layout';
import { resourceNames, resources } from '../lambda/resources';
import type { CollectorEnvironment } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';

/** How long S3 keeps a version after it expired or was deleted, in days: time to notice a mistake. */
const noncurrentDays = 30;

/** How long access logs are kept, in days. */
const accessLogDays = 365;

/** The bucket of everything collected, and the bucket of its access logs. Both outlive the stack. */
export class Archive extends Construct {
  readonly bucket: Bucket;
  readonly #key: IKey | undefined;

  constructor(scope: Construct, id: string, { config }: { readonly config: CollectorConfig }) {
    super(scope, id);
    const { archive } = config;
    this.#key = this.#keyOf(archive.kms, config.name);
    this.bucket = new Bucket(this, 'Bucket', {
      ...privateBucket,
      versioned: true,
      ...(this.#key === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey: this.#key, bucketKeyEnabled: true }),
      serverAccessLogsBucket: this.#createAccessLogBucket(),
      lifecycleRules: lifecycleRules(archive),
      ...(archive.objectLockDays === undefined
        ? {}
        : { objectLockDefaultRetention: ObjectLockRetention.governance(Duration.days(archive.objectLockDays)) }),
    });
    // The bucket outlives the stack, so its protection has to outlive the stack too.
    this.bucket.policy?.applyRemovalPolicy(RemovalPolicy.RETAIN);
  }

  /**
   * Lets the role add to the archive and read its run records, and nothing else. Returns the environment in which the
   * function finds the bucket.
   */
  provideTo(role: IRole): Pick<CollectorEnvironment, 'ARCHIVE_BUCKET'> {
    const prefixes = [...expiringPrefixes, configurationsPrefix];
    for (const statement of [
      new PolicyStatement({
        sid: 'AddToArchive',
        actions: ['s3:PutObject'],
        resources: prefixes.map((prefix) => this.bucket.arnForObjects(`${prefix}*`)),
      }),
      new PolicyStatement({
        sid: 'ReadRunRecords',
        actions: ['s3:GetObject'],
        resources: [this.bucket.arnForObjects(`${runsPrefix}*`)],
      }),
      new PolicyStatement({
        sid: 'ListRunRecords',
        actions: ['s3:ListBucket'],
        resources: [this.bucket.bucketArn],
        conditions: { StringLike: { 's3:prefix': `${runsPrefix}*` } },
      }),
      ...this.#keyStatements(),
    ])
      role.addToPrincipalPolicy(statement);
    for (const statement of denyChanges(this.bucket, role)) this.bucket.addToResourcePolicy(statement);
    const bucketId = Stack.of(this).getLogicalId(this.bucket.node.defaultChild as CfnResource);
    Validations.of(role).acknowledge(
      ...prefixes.map((prefix) => ({
        id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/${prefix}*]`,
        reason: 'Keys below the prefix are named by cluster and time, so they are not known in advance.',
      })),
    );
    return { ARCHIVE_BUCKET: this.bucket.bucketName };
  }

  #keyStatements(): PolicyStatement[] {
    if (this.#key === undefined) return [];
    return [
      new PolicyStatement({
        sid: 'UseArchiveKey',
        // Decrypt: to read run records.
        actions: ['kms:GenerateDataKey', 'kms:Decrypt'],
        resources: [this.#key.keyArn],
        conditions: { StringEquals: { 'kms:ViaService': `s3.${Aws.REGION}.${Aws.URL_SUFFIX}` } },
      }),
    ];
  }

  #keyOf(kms: CollectorConfig['archive']['kms'], name: string): IKey | undefined {
    if (kms === undefined) return undefined;
    if (kms !== true) return Key.fromKeyArn(this, 'Key', kms);
    return new Key(this, 'Key', {
      description: `Encrypts the archive of ${name}; without it the archive cannot be read`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /** Encrypted by S3 and without Object Lock: S3 delivers access logs only to such a bucket. */
  #createAccessLogBucket(): Bucket {
    const bucket = new Bucket(this, 'AccessLogs', {
      ...privateBucket,
      encryption: BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ id: 'expire', expiration: Duration.days(accessLogDays) }],
    });
    bucket.policy?.applyRemovalPolicy(RemovalPolicy.RETAIN);
    return bucket;
  }
}

/** What expires; everything else says what was due, and is kept for good. A lifecycle rule has one prefix at most. */
const expiringPrefixes = [...resourceNames.map((name) => `${resources[name].folder}/`), runsPrefix];

const privateBucket = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  removalPolicy: RemovalPolicy.RETAIN,
} as const;

function lifecycleRules(archive: CollectorConfig['archive']): LifecycleRule[] {
  const { infrequentAccessAfterDays, retentionDays } = archive;
  const rules: LifecycleRule[] = [
    {
      id: 'clean-up',
      abortIncompleteMultipartUploadAfter: Duration.days(1),
      noncurrentVersionExpiration: Duration.days(noncurrentDays),
      // A delete marker without older versions has no use and slows listings down.
      expiredObjectDeleteMarker: true,
    },
  ];
  if (infrequentAccessAfterDays !== undefined)
    rules.push({
      id: 'infrequent-access',
      transitions: [
        { storageClass: StorageClass.INFREQUENT_ACCESS, transitionAfter: Duration.days(infrequentAccessAfterDays) },
      ],
    });
  if (retentionDays !== undefined)
    for (const prefix of expiringPrefixes)
      rules.push({ id: `expire-${prefix.slice(0, -1)}`, prefix, expiration: Duration.days(retentionDays) });
  return rules;
}

/** The bucket refuses the collector's role to overwrite and to delete, whatever the role's own policies allow. */
function denyChanges(bucket: IBucket, role: IRole): PolicyStatement[] {
  const principals = [new ArnPrincipal(role.roleArn)];
  const resources = [bucket.arnForObjects('*')];
  return [
    new PolicyStatement({
      sid: 'OnlyNewObjects',
      effect: Effect.DENY,
      principals,
      actions: ['s3:PutObject'],
      resources,
      conditions: { Null: { 's3:if-none-match': 'true' } },
    }),
    new PolicyStatement({
      sid: 'NoDeletion',
      effect: Effect.DENY,
      principals,
      actions: ['s3:DeleteObject*', 's3:BypassGovernanceRetention'],
      resources,
    }),
  ];
}
