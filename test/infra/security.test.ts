import { resourceNames, resources } from '../../archive/format/resources';
import { auditVariables, collectorVariables, failureVariables } from '../../lambda/stack-contract';
import { everything, policiesOf, resourceOf, resourcesOf, templateOf, textOf } from './example-stack';

const plain = templateOf();
/** Has every resource that there is. */
const full = templateOf({ ...everything, shards: 2 });

const tlsOnly = (actions: string, ...on: string[]) =>
  `Deny ${actions} on ${on.join(' ')} to {AWS: *} if {Bool: {aws:SecureTransport: false}}`;
const account = 'Allow kms:* on * to {AWS: arn:<AWS::Partition>:iam::<AWS::AccountId>:root}';
const here = (service: string, resource: string) =>
  `arn:<AWS::Partition>:${service}:<AWS::Region>:<AWS::AccountId>:${resource}`;
const ofAccount = '{StringEquals: {aws:SourceAccount: <AWS::AccountId>}';
const alarms = `to {Service: cloudwatch.amazonaws.com} if ${ofAccount}, ArnLike: {aws:SourceArn: ${here('cloudwatch', 'alarm:*')}}}`;
const assumedBy = (service: string) => `Allow sts:AssumeRole to {Service: ${service}.amazonaws.com}`;
const bySchedules = `${assumedBy('scheduler')} if {StringEquals: {aws:SourceAccount: <AWS::AccountId>, aws:SourceArn: ${here('scheduler', 'schedule-group/default')}}}`;
const byStateMachines = `${assumedBy('states')} if ${ofAccount}, ArnLike: {aws:SourceArn: ${here('states', 'stateMachine:*')}}}`;

const archive = '<ArchiveBucket.Arn>';
const audit = '<AuditRole.Arn>';
const write = 'Deny s3:PutObject on';
const remove = `Deny s3:BypassGovernanceRetention s3:DeleteObject* on ${archive}/*`;
/** One role of another account, which is the principal: the role may be deleted and made again. */
const reader = '{AWS: arn:aws:iam::222222222222:root}';
const isReader = 'ArnEquals: {aws:PrincipalArn: {0: arn:aws:iam::222222222222:role/auditor}}';
const storageClass = 's3:x-amz-storage-class';

describe('the policies of resources', () => {
  it('are these, whatever the policies of roles allow', () => {
    expect(policiesOf(full)).toEqual({
      AlertsKey: [account, `Allow kms:Decrypt kms:GenerateDataKey* on * ${alarms}`],
      AlertsTopicPolicy: [
        'Deny sns:Publish on <AlertsTopic> to * if {Bool: {aws:SecureTransport: false}}',
        `Allow sns:Publish on <AlertsTopic> ${alarms}`,
      ],
      DeadLettersPolicy: [
        tlsOnly('sqs:*', '<DeadLetters.Arn>'),
        'Allow sqs:SendMessage on <DeadLetters.Arn> to {Service: events.amazonaws.com} ' +
          'if {ArnEquals: {aws:SourceArn: <FailureMessagesFailedExecutions.Arn>}}',
      ],
      ArchiveKey: [
        account,
        `Allow kms:Decrypt on * to ${reader} if {${isReader}, StringEquals: {kms:ViaService: s3.<AWS::Region>.<AWS::URLSuffix>}}`,
      ],
      ArchiveAccessLogsPolicy: [
        tlsOnly('s3:*', '<ArchiveAccessLogs.Arn>', '<ArchiveAccessLogs.Arn>/*'),
        'Allow s3:PutObject on <ArchiveAccessLogs.Arn>/* to {Service: logging.s3.amazonaws.com} ' +
          `if {ArnLike: {aws:SourceArn: ${archive}}, StringEquals: {aws:SourceAccount: <AWS::AccountId>}}`,
      ],
      ArchiveBucketPolicy: [
        tlsOnly('s3:*', archive, `${archive}/*`),
        // Nobody writes what the audit could not read.
        `${write} ${archive}/* to {AWS: *} if {Null: {${storageClass}: false}, StringNotEquals: {${storageClass}: STANDARD}}`,
        `${write} ${archive}/* to {AWS: *} if {Null: {s3:x-amz-server-side-encryption-customer-algorithm: false}}`,
        // Nor what comes past the rules for writing: by replication from another bucket, or with another key.
        `Deny s3:ReplicateDelete s3:ReplicateObject s3:UpdateObjectEncryption on ${archive}/* to {AWS: *}`,
        // Who may read from another account lists and reads, and nothing else.
        `Allow s3:GetObject s3:ListBucket s3:ListBucketVersions on ${archive} ${archive}/* to ${reader} if {${isReader}}`,
        // The collector writes new objects only, and deletes none.
        `${write} ${archive}/* to {AWS: <CollectorRole.Arn>} if {Null: {s3:if-none-match: true}}`,
        `${remove} to {AWS: <CollectorRole.Arn>}`,
        // Seals are new, and of the audit, which writes nothing else and deletes nothing.
        `${write} ${archive}/seals/* to {AWS: *} if {ArnNotEquals: {aws:PrincipalArn: ${audit}}}`,
        `${write} ${archive}/seals/* to {AWS: *} if {Null: {s3:if-none-match: true}}`,
        `${write} ${['configurations', 'runs', ...resourceNames.map((name) => resources[name].folder)]
          .sort()
          .map((name) => `${archive}/${name}/*`)
          .join(' ')} to {AWS: ${audit}}`,
        `${remove} to {AWS: ${audit}}`,
      ],
      AuditSigningKey: [account, `Deny kms:Sign on * to {AWS: *} if {ArnNotEquals: {aws:PrincipalArn: ${audit}}}`],
      ArchiveReplicationRole: [assumedBy('s3')],
      CollectorRole: [assumedBy('lambda')],
      AuditRole: [assumedBy('lambda')],
      FailureMessagesRole: [assumedBy('lambda')],
      FanOutRole: [byStateMachines],
      ScheduleRole: [bySchedules],
      AuditScheduleRole: [bySchedules],
    });
  });
});

describe.each([
  ['the shipped configuration', plain],
  ['everything that can be configured', full],
])('with %s', (_, json) => {
  /** At least one: what holds of none was not looked at. */
  const some = (type: string) => {
    const found = resourcesOf(json, type);
    expect([type, found.length]).not.toEqual([type, 0]);
    return found;
  };
  const all = (type: string) => some(type).map(([, { Properties }]) => Properties);

  it('every bucket is private and encrypted; the archive keeps every version, and logs elsewhere who touched it', () => {
    const isPrivate = {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    };
    expect(all('AWS::S3::Bucket')).toHaveLength(2);
    for (const properties of all('AWS::S3::Bucket'))
      expect(properties).toMatchObject({
        PublicAccessBlockConfiguration: isPrivate,
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        BucketEncryption: expect.anything(),
      });
    const { VersioningConfiguration, LoggingConfiguration } = resourceOf(
      json,
      'AWS::S3::Bucket',
      'ArchiveBucket',
    ).Properties;
    expect(VersioningConfiguration).toEqual({ Status: 'Enabled' });
    expect(textOf(LoggingConfiguration)).toBe('{DestinationBucketName: <ArchiveAccessLogs>}');
  });

  it('no template holds a key', () => {
    const secrets = resourcesOf(json, 'AWS::SecretsManager::Secret').map(([, { Properties }]) => Properties);
    // With everything, it is somebody else's.
    expect(secrets).toHaveLength(json === plain ? 1 : 0);
    for (const properties of secrets) expect(Object.keys(properties)).toEqual(['Description']);
    const read = { Audit: auditVariables, Collector: collectorVariables, FailureMessages: failureVariables };
    for (const [id, { Properties }] of some('AWS::Lambda::Function')) {
      const { Variables } = Properties.Environment as { Variables: object };
      const own = Object.entries(read).find(([name]) => id.startsWith(name))?.[1] ?? [];
      const names = new Set([...own, 'NODE_OPTIONS', 'POWERTOOLS_SERVICE_NAME']);
      expect(Object.keys(Variables).sort()).toEqual([...names].sort());
    }
  });

  it('lost deliveries are kept, encrypted; what failed for good is reported, and kept if it cannot be', () => {
    for (const properties of all('AWS::SQS::Queue')) expect(properties.SqsManagedSseEnabled).toBe(true);
    for (const { Target } of all('AWS::Scheduler::Schedule'))
      expect(textOf((Target as Record<string, unknown>).DeadLetterConfig)).toBe('{Arn: <DeadLetters.Arn>}');
    for (const [id, { Properties }] of some('AWS::Lambda::EventInvokeConfig'))
      expect(textOf(Properties.DestinationConfig)).toBe(
        `{OnFailure: {Destination: <${id.startsWith('FailureMessages') ? 'DeadLetters' : 'FailureMessagesFunction'}.Arn>}}`,
      );
  });
});
