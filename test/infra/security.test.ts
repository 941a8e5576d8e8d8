import {
  audited,
  everything,
  type Resource,
  resourceOf,
  type Statement,
  statementsOf,
  type TemplateJson,
  templateOf,
} from './example-stack';
import { securityProperties } from './security-properties';

const plain = templateOf();
const full = templateOf(everything);
const withAudit = templateOf(audited);

describe.each(Object.entries(securityProperties))('%s', (_, check) => {
  it('with the shipped configuration', () => check(plain));
  it('with an audit', () => check(withAudit));
  it('with everything that can be configured', () => check(full));
});

/** Removes the statements of a policy that the predicate selects. */
function drop(policy: Resource, which: (statement: Statement) => boolean): void {
  const document = policy.Properties.PolicyDocument as { Statement: Statement[] };
  const kept = document.Statement.filter((statement) => !which(statement));
  if (kept.length === document.Statement.length) throw new Error('nothing to remove');
  document.Statement = kept;
}

const isTlsOnly = ({ Condition }: Statement) => Condition?.Bool?.['aws:SecureTransport'] === 'false';

/** Adds a statement to a role's own policy; left out: the collector's. */
function widen(json: TemplateJson, statement: Statement, role = 'CollectorRole'): void {
  statementsOf(resourceOf(json, 'AWS::IAM::Policy', role)).push(statement);
}

/** Removes a statement of the archive's policy. */
function dropFromArchive(sid: string) {
  return (json: TemplateJson) =>
    drop(resourceOf(json, 'AWS::S3::BucketPolicy', 'ArchiveBucket'), ({ Sid }) => Sid === sid);
}

const archiveObjectsBelow = (prefix: string) => ({
  'Fn::Join': ['', [{ 'Fn::GetAtt': ['ArchiveBucket49F1AC64', 'Arn'] }, `/${prefix}*`]],
});
const archiveObjects = archiveObjectsBelow('');

/** Changes that weaken the template, each with the property that must notice it. */
const weakenings: [string, keyof typeof securityProperties, (json: TemplateJson) => void][] = [
  [
    'public access to the archive is not blocked',
    'every bucket is private',
    (json) => delete resourceOf(json, 'AWS::S3::Bucket', 'ArchiveBucket').Properties.PublicAccessBlockConfiguration,
  ],
  [
    'access lists are back',
    'every bucket is private',
    (json) => delete resourceOf(json, 'AWS::S3::Bucket', 'ArchiveAccessLogs').Properties.OwnershipControls,
  ],
  [
    'the archive is not encrypted',
    'every bucket is encrypted',
    (json) => delete resourceOf(json, 'AWS::S3::Bucket', 'ArchiveBucket').Properties.BucketEncryption,
  ],
  ...(
    [
      ['AWS::S3::BucketPolicy', 'ArchiveBucket'],
      ['AWS::S3::BucketPolicy', 'ArchiveAccessLogs'],
      ['AWS::SQS::QueuePolicy', 'Schedule'],
      ['AWS::SQS::QueuePolicy', 'AuditSchedule'],
      ['AWS::SNS::TopicPolicy', ''],
    ] as const
  ).map(([type, id]): (typeof weakenings)[number] => [
    `${type} ${id} allows plain http`,
    'every bucket, queue and topic is reached by TLS only',
    (json) => drop(resourceOf(json, type, id), isTlsOnly),
  ]),
  [
    'the archive does not keep versions',
    'the archive keeps every version',
    (json) => delete resourceOf(json, 'AWS::S3::Bucket', 'ArchiveBucket').Properties.VersioningConfiguration,
  ],
  [
    'nobody logs who touched the archive',
    'the archive logs who touched it, elsewhere',
    (json) => delete resourceOf(json, 'AWS::S3::Bucket', 'ArchiveBucket').Properties.LoggingConfiguration,
  ],
  ...(
    [
      ['AWS::S3::Bucket', 'ArchiveBucket'],
      ['AWS::S3::Bucket', 'ArchiveAccessLogs'],
      ['AWS::S3::BucketPolicy', 'ArchiveBucket'],
      ['AWS::SecretsManager::Secret', ''],
      ['AWS::KMS::Key', 'AuditSigningKey'],
    ] as const
  ).map(([type, id]): (typeof weakenings)[number] => [
    `${type} ${id} goes with the stack`,
    'archive, its protection, its secret and its signing key outlive the stack, unless its creation fails',
    (json) => {
      resourceOf(json, type, id).DeletionPolicy = 'Delete';
    },
  ]),
  [
    'the condition on writes is gone',
    'the archive takes new objects only',
    (json) => drop(resourceOf(json, 'AWS::S3::BucketPolicy', 'ArchiveBucket'), ({ Sid }) => Sid === 'OnlyNewObjects'),
  ],
  [
    'the condition on writes is inverted',
    'the archive takes new objects only',
    (json) => {
      for (const statement of statementsOf(resourceOf(json, 'AWS::S3::BucketPolicy', 'ArchiveBucket')))
        if (statement.Sid === 'OnlyNewObjects') statement.Condition = { Null: { 's3:if-none-match': 'false' } };
    },
  ],
  [
    'the archive no longer refuses deletion',
    'the archive lets the collector delete nothing',
    (json) => drop(resourceOf(json, 'AWS::S3::BucketPolicy', 'ArchiveBucket'), ({ Sid }) => Sid === 'NoDeletion'),
  ],
  [
    'the archive takes what lies in GLACIER',
    'the archive takes from nobody what could not be read',
    dropFromArchive('OnlyStandardClass'),
  ],
  [
    'the archive takes what only its writer can decrypt',
    'the archive takes from nobody what could not be read',
    dropFromArchive('NoCustomerKeys'),
  ],
  [
    'the collector may read the archive',
    'the collector reads nothing in the archive except run records and configurations',
    (json) => widen(json, { Effect: 'Allow', Action: 's3:GetObject', Resource: archiveObjects }),
  ],
  [
    'the collector may list the archive',
    'the collector reads nothing in the archive except run records and configurations',
    (json) => {
      for (const statement of statementsOf(resourceOf(json, 'AWS::IAM::Policy', 'CollectorRole')))
        if (statement.Sid === 'ListRunRecords') statement.Condition = undefined;
    },
  ],
  [
    'the collector may do anything',
    'the collector reads nothing in the archive except run records and configurations',
    (json) => widen(json, { Effect: 'Allow', Action: '*', Resource: '*' }),
  ],
  [
    'the schedule may start any function',
    'the schedule may start the function and keep what it could not deliver, and only this account uses its role',
    (json) => {
      for (const statement of statementsOf(resourceOf(json, 'AWS::IAM::Policy', 'ScheduleRole')))
        statement.Resource = '*';
    },
  ],
  [
    "another account's schedule may use the role",
    'the schedule may start the function and keep what it could not deliver, and only this account uses its role',
    (json) => {
      const { Properties } = resourceOf(json, 'AWS::IAM::Role', 'ScheduleRole');
      for (const statement of (Properties.AssumeRolePolicyDocument as { Statement: Statement[] }).Statement)
        delete statement.Condition;
    },
  ],
  [
    'the secret is created with a value',
    'no template holds a key',
    (json) => {
      resourceOf(json, 'AWS::SecretsManager::Secret').Properties.SecretString = 'key';
    },
  ],
  [
    'the key travels in the environment',
    'no template holds a key',
    (json) => {
      const { Environment } = resourceOf(json, 'AWS::Lambda::Function', 'Collector').Properties as {
        Environment: { Variables: Record<string, unknown> };
      };
      Environment.Variables.API_KEY = 'key';
    },
  ],
  [
    'the collector may add seals',
    'the collector neither adds seals nor signs',
    (json) => widen(json, { Effect: 'Allow', Action: 's3:PutObject', Resource: archiveObjectsBelow('seals/') }),
  ],
  [
    'the collector may sign',
    'the collector neither adds seals nor signs',
    (json) => widen(json, { Effect: 'Allow', Action: 'kms:Sign', Resource: '*' }),
  ],
  [
    'the audit may add logs',
    'the audit adds nothing but seals, and signs with one key',
    (json) =>
      widen(json, { Effect: 'Allow', Action: 's3:PutObject', Resource: archiveObjectsBelow('logs/') }, 'AuditRole'),
  ],
  [
    'the audit may sign with any key',
    'the audit adds nothing but seals, and signs with one key',
    (json) => widen(json, { Effect: 'Allow', Action: 'kms:Sign', Resource: '*' }, 'AuditRole'),
  ],
  [
    'the audit may delete',
    'the audit adds nothing but seals, and signs with one key',
    (json) => widen(json, { Effect: 'Allow', Action: 's3:DeleteObject', Resource: archiveObjects }, 'AuditRole'),
  ],
  ['anybody may add seals', 'the archive takes seals from the audit only', dropFromArchive('SealsByAuditOnly')],
  ['seals can be replaced', 'the archive takes new seals only, from whomever', dropFromArchive('OnlyNewSeals')],
  [
    'the archive takes logs from the audit',
    'the archive takes nothing else from the audit, and lets it delete nothing',
    dropFromArchive('AuditArchivesNothing'),
  ],
  [
    'the archive lets the audit delete',
    'the archive takes nothing else from the audit, and lets it delete nothing',
    dropFromArchive('AuditDeletesNothing'),
  ],
  [
    'anybody with the rights of an administrator signs',
    'the key of the seals signs for the audit only',
    (json) => {
      const { KeyPolicy } = resourceOf(json, 'AWS::KMS::Key', 'AuditSigningKey').Properties as {
        KeyPolicy: { Statement: Statement[] };
      };
      KeyPolicy.Statement = KeyPolicy.Statement.filter(({ Effect }) => Effect === 'Allow');
    },
  ],
  [
    'everything in the archive expires',
    'seals and configurations never expire',
    (json) => {
      const { LifecycleConfiguration } = resourceOf(json, 'AWS::S3::Bucket', 'ArchiveBucket').Properties as {
        LifecycleConfiguration: { Rules: object[] };
      };
      LifecycleConfiguration.Rules.push({ Id: 'all', Status: 'Enabled', ExpirationInDays: 400 });
    },
  ],
  [
    'lost deliveries are not kept',
    'lost deliveries are kept, encrypted',
    (json) => {
      const { Target } = resourceOf(json, 'AWS::Scheduler::Schedule', 'AuditSchedule').Properties as { Target: object };
      Object.assign(Target, { DeadLetterConfig: undefined });
    },
  ],
  [
    'the dead-letter queue is not encrypted',
    'lost deliveries are kept, encrypted',
    (json) => delete resourceOf(json, 'AWS::SQS::Queue', 'AuditSchedule').Properties.SqsManagedSseEnabled,
  ],
  [
    'failed runs go nowhere',
    'what failed for good is told, and kept if it cannot be',
    (json) => delete resourceOf(json, 'AWS::Lambda::EventInvokeConfig', 'Audit').Properties.DestinationConfig,
  ],
  [
    'an alarm is unlinked',
    'every alarm reaches the topic, when it begins and when it is over',
    (json) => {
      resourceOf(json, 'AWS::CloudWatch::Alarm', 'ObservabilityRunMissing').Properties.AlarmActions = [];
    },
  ],
  [
    'an alarm is switched off',
    'every alarm reaches the topic, when it begins and when it is over',
    (json) => {
      resourceOf(json, 'AWS::CloudWatch::Alarm', 'ObservabilityRunMissing').Properties.ActionsEnabled = false;
    },
  ],
  [
    'the topic is encrypted with the managed key, with which alarms cannot publish',
    'the topic is encrypted with a key that CloudWatch may use',
    (json) => {
      resourceOf(json, 'AWS::SNS::Topic').Properties.KmsMasterKeyId = 'alias/aws/sns';
    },
  ],
];

describe('a weaker template is noticed', () => {
  it.each(weakenings)('%s', (_, property, weaken) => {
    const weaker = structuredClone(withAudit);
    weaken(weaker);
    const broken = Object.keys(securityProperties).filter((name) => {
      try {
        securityProperties[name]?.(weaker);
        return false;
      } catch {
        return true;
      }
    });
    expect(broken).toEqual([property]);
  });

  it('for every property', () => {
    const covered = new Set(weakenings.map(([, property]) => property));
    expect(Object.keys(securityProperties).filter((name) => !covered.has(name))).toEqual([]);
  });
});
