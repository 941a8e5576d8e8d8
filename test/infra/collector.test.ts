import { Match } from 'aws-cdk-lib/assertions';
import { functionTimeoutSeconds } from '../../archive/format/clocks';
import { resourceNames, resources } from '../../archive/format/resources';
import { deliveryAgeSeconds, memoryMiB, temporaryStorageMiB } from '../../infra/limits';
import { longestRunSeconds } from '../../lambda/time-limits';
import { exampleConfig } from './example-config';
import { allowedTo, everything, exampleTemplate, kmsKeyArn, templateOf, textOf, toldAtSynth } from './example-stack';

const template = exampleTemplate();

/** What the function needs in every configuration. */
const always = [
  'lambda:InvokeFunction <FailureMessagesFunction.Arn>',
  'logs:CreateLogStream <CollectorLogs.Arn>',
  'logs:PutLogEvents <CollectorLogs.Arn>',
  's3:GetObject <ArchiveBucket.Arn>/configurations/*',
  's3:GetObject <ArchiveBucket.Arn>/runs/*',
  's3:ListBucket <ArchiveBucket.Arn> if {StringLike: {s3:prefix: runs/*}}',
  's3:PutObject <ArchiveBucket.Arn>/configurations/*',
  ...resourceNames.map((name) => `s3:PutObject <ArchiveBucket.Arn>/${resources[name].folder}/*`),
  's3:PutObject <ArchiveBucket.Arn>/runs/*',
];
const ownSecret = ['secretsmanager:GetSecretValue <ApiKeySecret>'];

function allowed(changes: Record<string, unknown> = {}): string[] {
  return allowedTo(templateOf(changes), 'CollectorRole');
}

describe('the role of the function', () => {
  it('allows exactly what the function needs', () => {
    expect(allowed()).toEqual([...always, ...ownSecret].sort());
  });

  it('allows an existing secret by its name and the six characters that AWS appends', () => {
    const secret = 'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:platform/clusters-??????';
    expect(allowed({ apiKeySecret: 'platform/clusters' })).toEqual(
      [...always, `secretsmanager:GetSecretValue ${secret}`].sort(),
    );
  });

  it("allows the secret's customer key, through Secrets Manager only", () => {
    const lines = allowed({ apiKeySecret: { name: 'platform/clusters', kmsKeyArn } });
    expect(lines).toContain(
      `kms:Decrypt ${kmsKeyArn} if {StringEquals: {kms:ViaService: secretsmanager.<AWS::Region>.<AWS::URLSuffix>}}`,
    );
    expect(lines).toHaveLength(always.length + 2);
  });

  it.each([
    ['a key of its own', true, '<ArchiveKey.Arn>'],
    ['a given key', kmsKeyArn, kmsKeyArn],
  ])("allows the archive's key, through S3 only: %s", (_, kms, key) => {
    const condition = 'if {StringEquals: {kms:ViaService: s3.<AWS::Region>.<AWS::URLSuffix>}}';
    expect(allowed({ archive: { kms } })).toEqual(
      [...always, ...ownSecret, `kms:Decrypt ${key} ${condition}`, `kms:GenerateDataKey ${key} ${condition}`].sort(),
    );
  });

  it('is told at synth where the clusters come from, if they are not deployed', () => {
    const said = (changes: Record<string, unknown>) => toldAtSynth(changes, /reads the list of clusters from/);
    expect(said({})).toEqual([]);
    const [text = '', ...others] = said({ clusters: { from: 's3://inventory/fleet.json', kmsKeyArn } });
    expect(others).toEqual([]);
    expect(text).toContain('reads the list of clusters from s3://inventory/fleet.json');
    // Statements that outlive the role: its account is the principal.
    const statements = [...text.matchAll(/has to allow: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json));
    const account = 'arn:aws:iam::ACCOUNT';
    const role = { ArnLike: { 'aws:PrincipalArn': `${account}:role/cluster-log-collector-CollectorRole*` } };
    const ofAll = {
      Sid: 'CollectorReadsList',
      Effect: 'Allow',
      Principal: { AWS: `${account}:root` },
      Condition: role,
    };
    expect(statements).toEqual([
      { ...ofAll, Action: 's3:GetObject', Resource: 'arn:aws:s3:::inventory/fleet.json' },
      { ...ofAll, Action: 'kms:Decrypt', Resource: '*' },
    ]);
    const { Outputs = {} } = templateOf({ clusters: { from: 's3://inventory/fleet.json' } });
    expect(textOf(Outputs.CollectorRole?.Value)).toBe('<CollectorRole.Arn>');
    expect(templateOf().Outputs).not.toHaveProperty('CollectorRole');
  });

  it('allows exactly the object with a list of clusters from outside, and its key through S3 only', () => {
    const condition = 'if {StringEquals: {kms:ViaService: s3.<AWS::Region>.<AWS::URLSuffix>}}';
    expect(allowed({ clusters: { from: 's3://inventory/fleet/clusters.json', kmsKeyArn } })).toEqual(
      [
        ...always,
        ...ownSecret,
        's3:GetObject arn:aws:s3:::inventory/fleet/clusters.json',
        `kms:Decrypt ${kmsKeyArn} ${condition}`,
      ].sort(),
    );
  });

  it('allows exactly the secret with the address of a monitoring service, and says at synth that a VPC needs a way out', () => {
    const secret =
      'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:monitoring/heartbeat-??????';
    const alerts = { heartbeat: { secret: 'monitoring/heartbeat' } };
    expect(allowed({ alerts })).toEqual([...always, ...ownSecret, `secretsmanager:GetSecretValue ${secret}`].sort());
    const said = (changes: Record<string, unknown>) => toldAtSynth(changes, /need a way out to the monitoring service/);
    expect(said({ alerts })).toEqual([]);
    expect(said({ network: everything.network })).toEqual([]);
    expect(said({ alerts, network: everything.network })).toHaveLength(1);
  });

  it('allows former keys of the archive, for reading through S3 only', () => {
    const formerKmsKeyArns = [kmsKeyArn, `${kmsKeyArn}-2`];
    const condition = 'if {StringEquals: {kms:ViaService: s3.<AWS::Region>.<AWS::URLSuffix>}}';
    expect(allowed({ archive: { formerKmsKeyArns } })).toEqual(
      [...always, ...ownSecret, ...formerKmsKeyArns.map((arn) => `kms:Decrypt ${arn} ${condition}`)].sort(),
    );
  });

  it('allows Lambda, and not the code, to attach the function to its network', () => {
    const changes = { network: everything.network };
    const lines = allowed(changes).filter((line) => line.startsWith('ec2:'));
    expect(lines).toHaveLength(6);
    exampleTemplate(changes).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Action: lines.map((line) => line.split(' ')[0]),
            Resource: '*',
            Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } },
          }),
        ]),
      },
    });
  });

  it('is created, with its policy, before the function', () => {
    template.hasResource('AWS::Lambda::Function', {
      DependsOn: Match.arrayWith([Match.stringLikeRegexp('^CollectorRoleDefaultPolicy')]),
    });
  });
});

describe('the function', () => {
  it('has the time, the memory and the temporary storage that its limits are for', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Timeout: functionTimeoutSeconds,
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: memoryMiB(exampleConfig().limits),
      EphemeralStorage: { Size: temporaryStorageMiB(exampleConfig().limits) },
    });
  });
});

describe('the times of a run', () => {
  it('let a late delivery happen on the day of its run', () => {
    expect(deliveryAgeSeconds + longestRunSeconds).toBeLessThan(24 * 3600);
    expect(deliveryAgeSeconds).toBeGreaterThan(functionTimeoutSeconds);
  });
});
