import { Annotations, type CfnResource, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  ArnPrincipal,
  Grant,
  type IGrantable,
  type IPrincipal,
  type IRole,
  PolicyStatement,
} from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct, type IConstruct } from 'constructs';
import { formerVersionDays } from '../archive/format/clocks';
import { configurationsPrefix, runsPrefix, sealsPrefix } from '../archive/format/keys';
import type { AuditEnvironment, CollectorEnvironment } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { runPrefixes } from './deployed-retention';
import { allow, type Conditions, everybody, refusal, through } from './policy-statements';
import { Replication, type ReplicationMetrics, type ReplicationProps } from './replication';

/** How long access logs are kept, in days. */
const accessLogDays = 365;

/** Where the collector writes. */
const collectedPrefixes = [...runPrefixes, configurationsPrefix];

const listing = ['s3:ListBucket', 's3:ListBucketVersions'];
const reading = ['s3:GetObject'];
const write = ['s3:PutObject'];
const replace = ['s3:ReplicateObject', 's3:ReplicateDelete', 's3:UpdateObjectEncryption'];
const remove = ['s3:DeleteObject*', 's3:BypassGovernanceRetention'];

/** The condition of a write that would replace an object. */
const overwriting = { Null: { 's3:if-none-match': 'true' } };

/**
 * Kept once it is deployed. What a failed first deployment has created is deleted, or each try would leave an empty archive
 * behind (CloudFormation user guide, DeletionPolicy RetainExceptOnCreate).
 */
const kept = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/** The bucket of everything collected, and the bucket of its access logs. Both outlive the stack. */
export class Archive extends Construct {
  readonly bucket: Bucket;
  /** The customer key that encrypts the archive; undefined if S3 does. */
  readonly key: IKey | undefined;
  /** Undefined without replication. */
  readonly replicationMetrics: ReplicationMetrics | undefined;
  readonly #formerKeyArns: readonly string[];

  constructor(scope: Construct, id: string, { config }: { readonly config: CollectorConfig }) {
    super(scope, id);
    const { archive, name } = config;
    this.key = this.#keyOf(archive.kms, name);
    this.#formerKeyArns = archive.formerKmsKeyArns;
    const lifecycle = runPrefixes.map((prefix) => lifecycleRule(prefix, archive));
    this.bucket = new Bucket(this, 'Bucket', {
      ...privateBucket,
      versioned: true,
      ...(this.key === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey: this.key, bucketKeyEnabled: true }),
      serverAccessLogsBucket: this.#createAccessLogBucket(),
      lifecycleRules: lifecycle,
      // Always: to switch it on later, CloudFormation would replace the bucket with a new, empty one.
      objectLockEnabled: true,
    });
    this.#refuseUnreadable();
    this.#letRead(archive.readers);
    this.#lock(archive.objectLock);
    // The bucket outlives the stack, so its protection has to outlive the stack too.
    this.bucket.policy?.applyRemovalPolicy(kept);
    this.replicationMetrics = archive.replicateTo && this.#replicate(archive.replicateTo, lifecycle);
  }

  /**
   * Lets the role add new objects to the archive and read its run records and configurations, and nothing else. Returns
   * the environment in which the function finds the bucket.
   */
  provideTo(role: IRole): Pick<CollectorEnvironment, 'ARCHIVE_BUCKET'> {
    const ofRuns = { StringLike: { 's3:prefix': `${runsPrefix}*` } };
    allow(role, 'AddToArchive', write, this.#objectsBelow(collectedPrefixes));
    allow(role, 'ReadRunRecords', ['s3:GetObject'], this.#objectsBelow([runsPrefix, configurationsPrefix]));
    allow(role, 'ListRunRecords', ['s3:ListBucket'], [this.bucket.bucketArn], ofRuns);
    this.#allowKeys(role);
    this.#refuse('OnlyNewObjects', role, write, [''], overwriting);
    this.#refuse('NoDeletion', role, remove, ['']);
    this.#acknowledge(
      role,
      collectedPrefixes,
      'Keys below the prefix are named by cluster, time or hash, so they are not known in advance.',
    );
    return { ARCHIVE_BUCKET: this.bucket.bucketName };
  }

  /**
   * Lets the role of the audit list and read the whole archive and add seals, and nothing else. From then on, nobody but
   * this role adds seals. Returns the environment in which the audit finds the bucket.
   */
  provideToAudit(role: IRole): Pick<AuditEnvironment, 'ARCHIVE_BUCKET'> {
    allow(role, 'ListArchive', ['s3:ListBucket', 's3:ListBucketVersions'], [this.bucket.bucketArn]);
    allow(role, 'ReadArchive', ['s3:GetObject'], this.#objectsBelow(['']));
    allow(role, 'AddSeals', write, this.#objectsBelow([sealsPrefix]));
    this.#allowKeys(role);
    const byOthers = { ArnNotEquals: { 'aws:PrincipalArn': role.roleArn } };
    this.#refuse('SealsByAuditOnly', everybody, write, [sealsPrefix], byOthers);
    this.#refuse('OnlyNewSeals', everybody, write, [sealsPrefix], overwriting);
    this.#refuse('AuditArchivesNothing', role, write, collectedPrefixes);
    this.#refuse('AuditDeletesNothing', role, remove, ['']);
    this.#acknowledge(role, ['', sealsPrefix], 'The audit reads everything that is archived, and numbers its seals.');
    return { ARCHIVE_BUCKET: this.bucket.bucketName };
  }

  /** Lets somebody of this account list and read everything, and nothing else. */
  grantRead(grantee: IGrantable): Grant {
    const grant = (actions: string[], resourceArns: string[]) =>
      Grant.addToPrincipalOrResource({ grantee, actions, resourceArns, resource: this.bucket });
    const listed = grant(listing, [this.bucket.bucketArn]).combine(grant(reading, this.#objectsBelow([''])));
    if (Construct.isConstruct(grantee)) this.#acknowledge(grantee, [''], 'It reads everything that is archived.');
    return this.key === undefined ? listed : listed.combine(this.key.grantDecrypt(grantee));
  }

  /**
   * Lets roles of others list and read everything, and nothing else. Each is named in a condition and not as principal: of a
   * principal that its owner deletes, AWS keeps an id, and refuses every later change of the policy.
   */
  #letRead(roleArns: readonly string[]): void {
    if (roleArns.length === 0) return;
    const accounts = [...new Set(roleArns.map((arn) => arn.split(':')[4] ?? ''))];
    const principals = accounts.map((account) => new ArnPrincipal(`arn:aws:iam::${account}:root`));
    const areReaders = { ArnEquals: { 'aws:PrincipalArn': [...roleArns] } };
    const statement = (sid: string, actions: string[], resources: string[], conditions: Conditions) =>
      new PolicyStatement({ sid, principals, actions, resources, conditions: { ...areReaders, ...conditions } });
    // One statement: a policy holds 20 KB, and the ARNs of twenty readers may be half of that.
    const read = [...listing, ...reading];
    const resources = [this.bucket.bucketArn, ...this.#objectsBelow([''])];
    this.bucket.addToResourcePolicy(statement('ReadersRead', read, resources, {}));
    // The policy of an existing key is its owner's: docs/keeping.md, "Reading from another account".
    this.key?.addToResourcePolicy(statement('ReadersDecrypt', ['kms:Decrypt'], ['*'], through('s3')));
  }

  /**
   * Takes from nobody what the audit could not read: an object in another storage class, of which GLACIER is one, or one
   * that is encrypted with a key that only its writer has (SSE-C). Nor what would come past the rules for PutObject: copies
   * from another bucket by replication, for which this bucket is not a destination, and another key for what lies here, which
   * leaves no earlier version to go back to.
   */
  #refuseUnreadable(): void {
    this.#refuse('OnlyStandardClass', everybody, write, [''], {
      // A write that names no class goes to STANDARD. StringNotEquals holds for it too, with IfExists or without.
      Null: { 's3:x-amz-storage-class': 'false' },
      StringNotEquals: { 's3:x-amz-storage-class': 'STANDARD' },
    });
    const withCustomerKey = { Null: { 's3:x-amz-server-side-encryption-customer-algorithm': 'false' } };
    this.#refuse('NoCustomerKeys', everybody, write, [''], withCustomerKey);
    this.#refuse('NothingReplaced', everybody, replace, ['']);
  }

  #refuse(sid: string, who: IPrincipal, actions: string[], prefixes: readonly string[], conditions?: Conditions): void {
    this.bucket.addToResourcePolicy(refusal(sid, who, actions, this.#objectsBelow(prefixes), conditions));
  }

  #objectsBelow(prefixes: readonly string[]): string[] {
    return prefixes.map((prefix) => this.bucket.arnForObjects(`${prefix}*`));
  }

  /** Tells cdk-nag why a role may use all keys below some prefixes. */
  #acknowledge(role: IConstruct, prefixes: readonly string[], reason: string): void {
    const bucketId = Stack.of(this).getLogicalId(this.bucket.node.defaultChild as CfnResource);
    Validations.of(role).acknowledge(
      ...prefixes.map((prefix) => ({ id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/${prefix}*]`, reason })),
    );
  }

  #allowKeys(role: IRole): void {
    // Decrypt: to read run records.
    const actions = ['kms:GenerateDataKey', 'kms:Decrypt'];
    if (this.key !== undefined) allow(role, 'UseArchiveKey', actions, [this.key.keyArn], through('s3'));
    if (this.#formerKeyArns.length > 0)
      allow(role, 'ReadWithFormerKeys', ['kms:Decrypt'], [...this.#formerKeyArns], through('s3'));
  }

  /**
   * Sets how long new objects are locked. A configuration without a rule is set too, not left out: that is what ends the
   * locking of new objects (S3, PutObjectLockConfiguration).
   */
  #lock(retention: CollectorConfig['archive']['objectLock']): void {
    const rule = retention && { defaultRetention: { days: retention.days, mode: retention.mode.toUpperCase() } };
    (this.bucket.node.defaultChild as CfnBucket).objectLockConfiguration = { objectLockEnabled: 'Enabled', rule };
    if (retention?.mode !== 'compliance') return;
    const [until] = new Date(Date.now() + retention.days * 86_400_000).toISOString().split('T');
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:compliance-lock',
      `archive.objectLock in compliance mode: nobody, neither the root user nor AWS, can delete before ${until} what is ` +
        'written today, or end the lock sooner. It is stored and paid for until then. Try it with few days first.',
    );
  }

  #replicate(target: ReplicationProps['target'], lifecycle: readonly LifecycleRule[]): ReplicationMetrics {
    const keyArns = [...(this.key === undefined ? [] : [this.key.keyArn]), ...this.#formerKeyArns];
    return new Replication(this, 'Replication', { bucket: this.bucket, target, keyArns, lifecycle }).metrics;
  }

  #keyOf(kms: CollectorConfig['archive']['kms'], name: string): IKey | undefined {
    if (kms === undefined) return undefined;
    if (kms !== true) return Key.fromKeyArn(this, 'Key', kms);
    return new Key(this, 'Key', {
      alias: `${name}-archive`,
      description: `Encrypts the archive of ${name}; without it the archive cannot be read`,
      enableKeyRotation: true,
      removalPolicy: kept,
    });
  }

  /** Encrypted by S3 and without Object Lock: S3 delivers access logs only to such a bucket. */
  #createAccessLogBucket(): Bucket {
    const bucket = new Bucket(this, 'AccessLogs', {
      ...privateBucket,
      encryption: BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ id: 'expire', expiration: Duration.days(accessLogDays) }],
    });
    bucket.policy?.applyRemovalPolicy(kept);
    return bucket;
  }
}

const privateBucket = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  removalPolicy: kept,
} as const;

/** The lifecycle of what is below one prefix. Everything else in the bucket stays for ever. */
function lifecycleRule(prefix: string, archive: CollectorConfig['archive']): LifecycleRule {
  const { retentionDays: expires } = archive;
  return {
    id: prefix.slice(0, -1),
    prefix,
    abortIncompleteMultipartUploadAfter: Duration.days(1),
    noncurrentVersionExpiration: Duration.days(formerVersionDays),
    // A delete marker without older versions has no use and slows listings down. A rule that expires objects removes
    // such markers by itself, and must not say so.
    ...(expires === undefined ? { expiredObjectDeleteMarker: true } : { expiration: Duration.days(expires) }),
  };
}
