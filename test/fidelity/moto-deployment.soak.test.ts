import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetPublicKeyCommand } from '@aws-sdk/client-kms';
import { GetBucketEncryptionCommand, GetObjectCommand, ListBucketsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager';
import { findStack } from '../../cli/stack/find-stack';
import { startInAccount } from '../../cli/stack/start-in-account';
import { sealKey } from '../../lambda/archive/archive-layout';
import { sealSchema, signatureSchema } from '../../lambda/verify/seals/seal';
import { knownIds } from '../infra/template-pairs';
import { findCommand } from '../local/aws/moto-server';
import { accountId, credentials, region } from './moto-account';
import { type Assembly, type Audited, type Collected, type MotoStack, stackName, startMotoStack } from './moto-stack';
import { missingTypes } from './moto-workarounds';

const command = findCommand('moto_server');
const describeIfMoto = command === undefined ? describe.skip : describe;

const keyArn = `arn:aws:kms:${region}:${accountId}:key/11111111-2222-3333-4444-555555555555`;

/** Options with roles of their own. moto cannot remove them: it deletes a role and its policy in any order, and fails. */
const withRoles = {
  shards: 2,
  audit: { schedule: 'cron(30 6 * * ? *)' },
  archive: { replicateTo: { bucketArn: 'arn:aws:s3:::copies', account: '222222222222' } },
};

/** Every option, other than by default. */
const everything = {
  deployTo: { account: accountId, region },
  archive: {
    kms: true,
    formerKmsKeyArns: [keyArn],
    retentionDays: 400,
    objectLock: { days: 1, mode: 'compliance' },
    replicateTo: { bucketArn: 'arn:aws:s3:::copies', account: '222222222222', kmsKeyArn: keyArn },
  },
  alerts: { page: { emails: ['night@example.com'] }, inform: { emails: ['day@example.com'] } },
  schedule: { expression: 'cron(0 3 * * ? *)', timeZone: 'Europe/Berlin' },
  limits: { concurrency: 8, requestsPerSecond: 100, maxBodyMiB: 64, responseTimeoutSeconds: 30, oneRunAtATime: true },
  network: {
    vpcId: 'vpc-0123456789abcdef0',
    subnetIds: ['subnet-0123456789abcdef0'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
  tags: { team: 'platform' },
  shards: 2,
  audit: {
    schedule: 'cron(30 6 * * ? *)',
    timeZone: 'Europe/Berlin',
    rereadDays: 90,
    staleAfterHours: 100,
    frozenAfterHours: 100,
    alarmOnLogGaps: true,
  },
  athenaTables: true,
};

/** Fails if the audit found damage, or if its seal is not signed with the key in the account. */
async function expectSeal(stack: MotoStack, { result, archiveFolder }: Audited): Promise<void> {
  expect(result).toMatchObject({ number: 1, damage: 0, verified: { objects: 4 } });
  const [line = '', signed = ''] = readFileSync(join(archiveFolder, sealKey(1)), 'utf8').split('\n');
  expect(createHash('sha256').update(line).digest('hex')).toBe(result.sha256);
  const { keyArn } = sealSchema.parse(JSON.parse(line));
  const { publicKey, signature, sha256 } = signatureSchema.parse(JSON.parse(signed));
  expect(sha256).toBe(result.sha256);
  expect(keyArn).toBe(stack.standIns.signingKeyArn);
  const { PublicKey = new Uint8Array() } = await stack.account.kms.send(new GetPublicKeyCommand({ KeyId: keyArn }));
  expect(Buffer.from(PublicKey).toString('base64')).toBe(publicKey);
  const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
  expect(verify('sha256', Buffer.from(sha256), key, Buffer.from(signature, 'base64'))).toBe(true);
}

/**
 * The real command line bootstraps, deploys, updates and destroys the real stack in moto's account. moto runs no
 * function without Docker: the deployed code, environment and role policies are downloaded and run by the local
 * deployment's runner. The tests build on each other, in this order.
 */
describeIfMoto('the stack in moto (skipped where moto_server is not in the PATH)', () => {
  let stack: MotoStack;
  let assembly: Assembly;
  let bucket: string;
  let first: Collected;

  beforeAll(async () => {
    stack = await startMotoStack(command ?? '');
  });

  afterAll(() => stack?.close());

  it('is synthesised by the command line', async () => {
    assembly = await stack.synthesise({ clusters: ['alpha', 'beta'] });
  });

  it('bootstraps the account', () => stack.bootstrap(assembly));

  it('deploys', () => stack.deploy(assembly));

  it('has every resource, apart from the types that moto is known to ignore', async () => {
    expect(await missingTypes(stack.account, stackName, assembly.template)).toEqual([]);
  });

  it('encrypts the archive', async () => {
    bucket = await stack.physicalIdOf('ArchiveBucket');
    const encryption = await stack.account.s3.send(new GetBucketEncryptionCommand({ Bucket: bucket }));
    const [rule] = encryption.ServerSideEncryptionConfiguration?.Rules ?? [];
    expect(rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm).toBe('AES256');
  });

  it("names the archive's bucket and the function in its outputs", async () => {
    const outputs = await stack.outputs();
    expect(outputs?.ArchiveBucket).toBe(bucket);
    expect(outputs?.CollectNow).toContain(await stack.physicalIdOf('CollectorFunction'));
  });

  it('has the code of the asset, and collects with the deployed role', async () => {
    first = await stack.collect(assembly);
    expect(first.summary.counts.archived).toBe(4);
    expect(first.summary.record?.startsWith(`s3://${bucket}/runs/`)).toBe(true);
  });

  it('is found by the command line, which starts its function', async () => {
    const { account } = stack;
    const variables = {
      AWS_ENDPOINT_URL: account.url,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
    const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, variables);
    try {
      const collector = await findStack({ name: stackName, region });
      expect(collector).toMatchObject({
        accountId,
        status: expect.stringMatching(/_COMPLETE$/),
        functionName: await stack.physicalIdOf('CollectorFunction'),
        archiveBucket: bucket,
        stateMachineArn: undefined,
      });
      await expect(findStack({ name: 'absent', region })).rejects.toThrow(/of this account has none/);
      // moto queues the event; without Docker nothing comes of it.
      expect(await startInAccount(collector, { newRun: '2026-11-20T10:00:00.000Z' })).toBeUndefined();
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  it('updates the code for a changed list of clusters, and replaces nothing', async () => {
    const resources = await stack.resources();
    const changed = await stack.synthesise({ clusters: ['alpha', 'beta', 'gamma'] });
    await stack.deploy(changed);
    const second = await stack.collect(changed);
    expect(second.clusters).toMatchObject(['alpha', 'beta', 'gamma'].map((uid) => ({ uid })));
    expect(second.configuration.CodeSha256).not.toBe(first.configuration.CodeSha256);
    expect(second.summary.counts.archived).toBe(6);
    expect(await stack.resources()).toEqual(resources);
  });

  it.each([
    ['to everything that can be configured', everything],
    ['back, as far as moto can', withRoles],
  ])('changes every option %s, and replaces nothing that holds something', async (_, members) => {
    const before = await stack.resources();
    const changed = await stack.synthesise({ clusters: ['alpha', 'beta'], ...members });
    await stack.deploy(changed);
    expect(await missingTypes(stack.account, stackName, changed.template)).toEqual([]);
    const after = await stack.resources();
    for (const resource of before.filter(({ logicalId }) => knownIds.includes(logicalId)))
      if (resource.logicalId in changed.template.Resources) expect(after).toContainEqual(resource);
    expect((await stack.collect(changed)).summary.counts.archived).toBe(4);
    await expectSeal(stack, await stack.audit(changed));
  });

  it('keeps buckets, objects and secret when it is destroyed, and removes its function', async () => {
    const { account } = stack;
    const object = { Bucket: bucket, Key: 'logs/kept' };
    await account.s3.send(new PutObjectCommand({ ...object, Body: 'kept' }));
    await stack.destroy(assembly);
    expect(await stack.outputs()).toBeUndefined();
    await expect(account.configurationOf(first.configuration.FunctionName)).rejects.toThrow(/404/);
    const { Buckets = [] } = await account.s3.send(new ListBucketsCommand({}));
    expect(Buckets.filter(({ Name }) => Name?.startsWith(stackName))).toHaveLength(2);
    const kept = await account.s3.send(new GetObjectCommand(object));
    expect(await kept.Body?.transformToString()).toBe('kept');
    await account.secrets.send(new DescribeSecretCommand({ SecretId: stack.standIns.secretArn }));
  });

  it('deploys again after that, with a new and empty archive beside the old one', async () => {
    const again = await stack.synthesise({ clusters: ['alpha', 'beta'] });
    await stack.deploy(again);
    const created = await stack.physicalIdOf('ArchiveBucket');
    expect(created).not.toBe(bucket);
    expect((await stack.collect(again)).summary.record?.startsWith(`s3://${created}/runs/`)).toBe(true);
  });

  it('needed no call to anything but moto', () => {
    expect(stack.callsElsewhere).toEqual([]);
  });
});
