import {
  everything,
  exampleTemplate,
  type Resource,
  resourceOf,
  type Statement,
  statementsOf,
  type TemplateJson,
} from './example-stack';
import { securityProperties } from './security-properties';

const plain = exampleTemplate().toJSON() as TemplateJson;
const full = exampleTemplate(everything).toJSON() as TemplateJson;

describe.each(Object.entries(securityProperties))('%s', (_, check) => {
  it('with the shipped configuration', () => check(plain));
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

/** Adds a statement to the collector's own policy. */
function widen(json: TemplateJson, statement: Statement): void {
  statementsOf(resourceOf(json, 'AWS::IAM::Policy', 'CollectorRole')).push(statement);
}

const archiveObjects = { 'Fn::Join': ['', [{ 'Fn::GetAtt': ['ArchiveBucket49F1AC64', 'Arn'] }, '/*']] };

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
      ['AWS::SQS::QueuePolicy', ''],
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
    ] as const
  ).map(([type, id]): (typeof weakenings)[number] => [
    `${type} ${id} goes with the stack`,
    'archive, its protection and its secret outlive the stack, unless its creation fails',
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
      const { Environment } = resourceOf(json, 'AWS::Lambda::Function').Properties as {
        Environment: { Variables: Record<string, unknown> };
      };
      Environment.Variables.API_KEY = 'key';
    },
  ],
  [
    'lost deliveries are not kept',
    'lost deliveries are kept, encrypted',
    (json) => {
      const { Target } = resourceOf(json, 'AWS::Scheduler::Schedule').Properties as { Target: object };
      Object.assign(Target, { DeadLetterConfig: undefined });
    },
  ],
  [
    'the dead-letter queue is not encrypted',
    'lost deliveries are kept, encrypted',
    (json) => delete resourceOf(json, 'AWS::SQS::Queue').Properties.SqsManagedSseEnabled,
  ],
  [
    'failed runs go nowhere',
    'a run that failed for good reaches the topic',
    (json) => delete resourceOf(json, 'AWS::Lambda::EventInvokeConfig').Properties.DestinationConfig,
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
    const weaker = structuredClone(plain);
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
