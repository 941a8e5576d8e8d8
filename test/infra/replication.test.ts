import { allowedTo, kmsKeyArn, resourceOf, templateOf, toldAtSynth } from './example-stack';

const bucketArn = 'arn:aws:s3:::copies';
const account = '222222222222';
const json = (archive: object) => templateOf({ archive });

const always = [
  's3:GetObjectLegalHold <ArchiveBucket.Arn>/*',
  's3:GetObjectRetention <ArchiveBucket.Arn>/*',
  's3:GetObjectVersionAcl <ArchiveBucket.Arn>/*',
  's3:GetObjectVersionForReplication <ArchiveBucket.Arn>/*',
  's3:GetObjectVersionTagging <ArchiveBucket.Arn>/*',
  's3:GetReplicationConfiguration <ArchiveBucket.Arn>',
  's3:ListBucket <ArchiveBucket.Arn>',
  `s3:ReplicateObject ${bucketArn}/*`,
  `s3:ReplicateTags ${bucketArn}/*`,
];

function ruleOf(archive: object): object {
  const { ReplicationConfiguration } = resourceOf(json(archive), 'AWS::S3::Bucket', 'ArchiveBucket').Properties;
  const { Rules } = ReplicationConfiguration as { Rules: object[] };
  expect(Rules).toHaveLength(1);
  return Rules[0] ?? {};
}

/** What a synthesis prints about the policies in the other account. */
const printed = (changes: Record<string, unknown>) => toldAtSynth(changes, /CollectorCopies/);

describe('the replication of the archive', () => {
  it('copies every version, but no deletion, and counts failures', () => {
    expect(ruleOf({ replicateTo: { bucketArn } })).toEqual({
      Id: 'everything',
      Status: 'Enabled',
      Priority: 0,
      Filter: { Prefix: '' },
      DeleteMarkerReplication: { Status: 'Disabled' },
      Destination: { Bucket: bucketArn, Metrics: { Status: 'Enabled' } },
    });
  });

  it('has a role that may read what it copies and write copies, and nothing else', () => {
    expect(allowedTo(json({ replicateTo: { bucketArn } }), 'ArchiveReplicationRole')).toEqual(always);
  });

  it('gives its copies to the other account', () => {
    expect(ruleOf({ replicateTo: { bucketArn, account } })).toMatchObject({
      Destination: { Account: account, AccessControlTranslation: { Owner: 'Destination' } },
    });
    expect(allowedTo(json({ replicateTo: { bucketArn, account } }), 'ArchiveReplicationRole')).toEqual(
      [...always, `s3:ObjectOwnerOverrideToBucketOwner ${bucketArn}/*`].sort(),
    );
  });

  it('reads with the key of the archive, and writes with the key of the copy', () => {
    const archive = { kms: true, replicateTo: { bucketArn, kmsKeyArn } };
    const through = (region: string) => `if {StringEquals: {kms:ViaService: s3.${region}.<AWS::URLSuffix>}}`;
    expect(allowedTo(json(archive), 'ArchiveReplicationRole')).toEqual(
      [
        ...always,
        `kms:Decrypt <ArchiveKey.Arn> ${through('<AWS::Region>')}`,
        `kms:Encrypt ${kmsKeyArn} ${through('eu-central-1')}`,
        `kms:GenerateDataKey ${kmsKeyArn} ${through('eu-central-1')}`,
      ].sort(),
    );
    expect(ruleOf(archive)).toMatchObject({
      Destination: { EncryptionConfiguration: { ReplicaKmsKeyID: kmsKeyArn } },
      SourceSelectionCriteria: { SseKmsEncryptedObjects: { Status: 'Enabled' } },
    });
  });

  it('reads with former keys too, also if the archive has no key any more', () => {
    const former = `${kmsKeyArn}-2`;
    const reads = (archive: object) =>
      allowedTo(json({ ...archive, replicateTo: { bucketArn, kmsKeyArn } }), 'ArchiveReplicationRole')
        .filter((line) => line.startsWith('kms:Decrypt'))
        .map((line) => line.split(' ')[1]);
    expect(reads({ kms: true, formerKmsKeyArns: [former] })).toEqual(['<ArchiveKey.Arn>', former]);
    expect(reads({ formerKmsKeyArns: [former] })).toEqual([former]);
  });

  it('prints a lifecycle for the copy with the days of the archive, and none if nothing expires', () => {
    const texts = (archive: object) =>
      toldAtSynth({ archive: { ...archive, replicateTo: { bucketArn } } }, /lifecycle/);
    expect(texts({})).toEqual([]);
    const [text = ''] = texts({ retentionDays: 400 });
    expect(text).toContain('put-bucket-lifecycle-configuration --bucket copies ');
    const inArchive = resourceOf(json({ retentionDays: 400 }), 'AWS::S3::Bucket', 'ArchiveBucket').Properties
      .LifecycleConfiguration as { Rules: Record<string, unknown>[] };
    expect(statementsIn(text)).toEqual([
      {
        Rules: inArchive.Rules.map(({ Id, Prefix, ExpirationInDays, NoncurrentVersionExpiration }) => ({
          ID: Id,
          Status: 'Enabled',
          Filter: { Prefix },
          Expiration: { Days: ExpirationInDays },
          NoncurrentVersionExpiration,
        })),
      },
    ]);
  });

  it('prints the policies that the other account needs, for this account and nobody else', () => {
    const deployTo = { account: '111111111111', region: 'eu-central-1' };
    const archive = { kms: true, replicateTo: { bucketArn, account, kmsKeyArn } };
    const [text = ''] = printed({ archive, deployTo });
    const statement = (Action: string[], Resource: string) => ({
      Sid: 'CollectorCopies',
      Effect: 'Allow',
      Principal: { AWS: 'arn:aws:iam::111111111111:root' },
      Action,
      Resource,
    });
    expect(statementsIn(text)).toEqual([
      statement(['s3:ReplicateObject', 's3:ReplicateTags', 's3:ObjectOwnerOverrideToBucketOwner'], `${bucketArn}/*`),
      statement(['kms:Encrypt', 'kms:GenerateDataKey'], '*'),
    ]);
    expect(printed({ archive })[0]).toContain('ACCOUNT is the account of this stack');
    expect(printed({ archive: { replicateTo: { bucketArn } } })).toEqual([]);
  });
});

/** The JSON objects in a text. */
function statementsIn(text: string): unknown[] {
  return [...text.matchAll(/^\{$.*?^\}$/gms)].map(([object]) => JSON.parse(object));
}
