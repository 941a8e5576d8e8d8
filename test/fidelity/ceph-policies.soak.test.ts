import { join } from 'node:path';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { objectKey, runRecordKey, sealKey } from '../../archive/format/keys';
import type { Caller } from '../../local/aws/iam/authorize';
import type { ResourcePolicy } from '../../local/aws/iam/policy-document';
import { startLocalAws } from '../../local/aws/local-aws';
import { FolderStore } from '../../local/aws/store/folder-store';
import { readPolicy } from '../../local/deployment/bucket-and-secret';
import { readAssembly } from '../../local/deployment/read-assembly';
import { policiesOf } from '../../local/deployment/role';
import { type StackResource, StackTemplate } from '../../local/deployment/stack-template';
import { exampleApp } from '../infra/example-stack';
import { clientsOf, everythingPolicy, region } from '../local/aws/endpoint-setup';
import { newFolder } from '../support/new-folder';
import { accountId, type Ceph, document, knownToCeph, onCeph } from './ceph';

/** Every role that can have to do with S3, and every statement about it. */
const app = exampleApp({
  name: 'policies',
  clusters: { from: 's3://inventory/fleet/clusters.json' },
  shards: 2,
  audit: { schedule: 'cron(30 6 * * ? *)' },
  archive: {
    replicateTo: { bucketArn: 'arn:aws:s3:::copies' },
    readers: [`arn:aws:iam::${accountId}:role/auditor`],
  },
}).app;
const { location, template } = readAssembly(app.synth());
const stack = new StackTemplate(template, location);
type Statement = ResourcePolicy['Statement'][number];

const roles = new Map(
  stack
    .resourcesOf('AWS::IAM::Role')
    .map((role) => [role.logicalId.slice(0, -8), { arn: role.identity.arn, policies: policiesOf(stack, role) }]),
);
const archiveBucket = stack
  .resourcesOf('AWS::S3::Bucket')
  .find(({ logicalId }) => logicalId.startsWith('ArchiveBucket'));
if (archiveBucket === undefined) throw new Error('the template has no archive');
const archive = archiveBucket.identity.ref;
const bucketNames = [archive, 'inventory', 'copies'];

const run = new Date('2026-11-20T12:00:00Z');
const keys: [bucket: string, key: string][] = [
  [archive, objectKey({ cluster: 'alpha', resource: 'log', run })],
  [archive, objectKey({ cluster: 'a uid/with "everything" %2F', resource: 'manifest', run })],
  [archive, runRecordKey({ run, attempt: 1 })],
  [archive, `configurations/${'0'.repeat(64)}.json.gz`],
  [archive, sealKey(1)],
  [archive, 'elsewhere'],
  ['inventory', 'fleet/clusters.json'],
  ['inventory', 'fleet/clusters.json.old'],
  ['copies', 'logs/copy'],
];
const prefixes = [undefined, '', 'run', 'runs/', 'runs/date=2026-11-20/', 'logs/', 'manifests/', 'seals/'];

type Call = (s3: S3Client) => Promise<unknown>;

/** What is called, by its name. What is read or replaced is there, and what is deleted is not: the right is needed all the same. */
const calls: [string, Call][] = [
  ...keys.flatMap(([Bucket, Key]): [string, Call][] => [
    [`PutObject ${Bucket}/${Key} once`, (s3) => s3.send(new PutObjectCommand({ Bucket, Key, IfNoneMatch: '*' }))],
    [`PutObject ${Bucket}/${Key}`, (s3) => s3.send(new PutObjectCommand({ Bucket, Key }))],
    [`GetObject ${Bucket}/${Key}`, (s3) => read(s3, Bucket, Key)],
    [`HeadObject ${Bucket}/${Key}`, (s3) => s3.send(new HeadObjectCommand({ Bucket, Key }))],
    [`DeleteObject ${Bucket}/${Key}.x`, (s3) => s3.send(new DeleteObjectCommand({ Bucket, Key: `${Key}.x` }))],
  ]),
  ...bucketNames.flatMap((Bucket): [string, Call][] => [
    ...prefixes.map((Prefix): [string, Call] => [
      `ListObjectsV2 ${Bucket} ${Prefix}`,
      (s3) => s3.send(new ListObjectsV2Command({ Bucket, Prefix })),
    ]),
    [`ListObjectVersions ${Bucket}`, (s3) => s3.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'seals/' }))],
  ]),
];

/** To the end: an answer whose body nobody reads keeps its connection. */
async function read(s3: S3Client, Bucket: string, Key: string): Promise<unknown> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return Body?.transformToByteArray();
}

/** Gives a role's client of one of the two that judge. */
type Judge = (role: string) => S3Client;

/** Whether each call is allowed. */
async function judgement(judge: Judge, role: string, called = calls): Promise<Record<string, boolean>> {
  const s3 = judge(role);
  const allowed: Record<string, boolean> = {};
  for (const [name, call] of called) allowed[name] = await call(s3).then(() => true, isAllowed);
  return allowed;
}

/** Of a call that failed. @throws the error, if it does not say */
function isAllowed(error: Error & { $metadata?: { httpStatusCode?: number } }): boolean {
  const status = error.$metadata?.httpStatusCode;
  if (status === 403) return false;
  // An object is there: before that was looked at, the call was allowed.
  if (status === 412) return true;
  throw error;
}

/** The embedded endpoint with its local/aws/iam. */
async function embedded(callers: ReadonlyMap<string, Caller>, policy?: ResourcePolicy) {
  const credentialsOf = (name: string) => ({ accessKeyId: `AKIA${name}`, secretAccessKey: name });
  const buckets = bucketNames.map((name) => ({ name, folder: join(newFolder(), name) }));
  for (const { name, folder } of buckets)
    for (const [, key] of keys.filter(([bucket]) => bucket === name))
      await new FolderStore(folder).put(key, Buffer.from(''), { contentType: 'text/plain' });
  const aws = await startLocalAws({
    region,
    principals: [...callers].map(([name, caller]) => ({ ...caller, ...credentialsOf(name) })),
    buckets: buckets.map((bucket) => (bucket.name === archive ? { ...bucket, policy } : bucket)),
    secrets: [],
  });
  const clients = new Map([...callers.keys()].map((name) => [name, clientsOf(aws.url, credentialsOf(name)).s3]));
  return { judge: (name: string) => clients.get(name) as S3Client, close: aws.close };
}

async function inCeph(ceph: Ceph, callers: ReadonlyMap<string, Caller>): Promise<Judge> {
  for (const name of bucketNames) await ceph.makeBucket(name);
  for (const [Bucket, Key] of keys) await ceph.s3.send(new PutObjectCommand({ Bucket, Key, Body: '' }));
  const clients = new Map<string, S3Client>();
  for (const [name, caller] of callers) clients.set(name, ceph.as(await ceph.admit(caller)));
  return (name) => clients.get(name) as S3Client;
}

onCeph('Ceph allows by the statements of each role what local/aws/iam allows, and nothing else:', (ceph) => {
  let local: Awaited<ReturnType<typeof embedded>>;
  let other: Judge;
  beforeAll(async () => {
    local = await embedded(roles);
    other = await inCeph(ceph(), roles);
  });
  afterAll(() => local.close());

  it.each([...roles.keys()])('%s', async (role) => {
    const expected = await judgement(local.judge, role);
    expect(await judgement(other, role)).toEqual(expected);
  });
});

/** What Ceph 16 makes of statements whose condition it does not know. What it learns has to go from here. */
const notCephs: Readonly<
  Record<string, { readonly why: string; readonly made: (statement: Statement) => Statement[] }>
> = {
  ...Object.fromEntries(
    ['OnlyNewObjects', 'OnlyNewSeals', 'NoCustomerKeys'].map((sid) => [
      sid,
      {
        why: 'Null holds, whatever it says, of a key that Ceph does not know',
        made: (statement: Statement) => [{ ...statement, Condition: {} }],
      },
    ]),
  ),
  SealsByAuditOnly: { why: 'ArnNotEquals never holds of aws:PrincipalArn, which Ceph does not know', made: () => [] },
};

/** Against roles that may do everything, and roles that may do nothing. */
onCeph('Ceph refuses and allows by each statement of the bucket’s policy what local/aws/iam does:', (ceph) => {
  const arnOf = (role: string) => roles.get(role)?.arn ?? `arn:aws:iam::${accountId}:role/${role}`;
  const callers = new Map(
    ['CollectorRole', 'AuditRole', 'auditor', 'nobody'].map((role): [string, Caller] => [
      role,
      { arn: arnOf(role), policies: roles.has(role) ? [everythingPolicy] : [] },
    ]),
  );
  const ofArchive = calls.filter(([name]) => name.includes(archive));
  const judgedBy = async (judge: Judge) =>
    Promise.all([...callers.keys()].map(async (role) => [role, await judgement(judge, role, ofArchive)]));
  const judgedLocally = async (Statement: Statement[]) => {
    const local = await embedded(callers, { Statement });
    try {
      return await judgedBy(local.judge);
    } finally {
      await local.close();
    }
  };
  let other: Judge;
  beforeAll(async () => {
    other = await inCeph(ceph(), callers);
  });

  const statements = readPolicy(stack, archiveBucket as StackResource)?.Statement ?? [];
  const known = knownToCeph(statements);
  it('(but of the one whose actions Ceph does not know)', () => {
    const sids = known.map(({ Sid }) => Sid);
    expect(statements.map(({ Sid }) => Sid).filter((sid) => !sids.includes(sid))).toEqual(['NothingReplaced']);
  });

  it.each(
    known.map((statement) => [statement.Sid ?? 'SecureTransport', statement] as const),
  )('%s', async (sid, statement) => {
    const Policy = document([{ ...statement, Principal: { AWS: statement.Principal.AWS } }]);
    await ceph().s3.send(new PutBucketPolicyCommand({ Bucket: archive, Policy }));
    const found = await judgedBy(other);
    const expected = await judgedLocally([statement]);
    const exception = notCephs[sid];
    if (exception === undefined) return expect(found).toEqual(expected);
    expect(found).not.toEqual(expected);
    expect(found).toEqual(await judgedLocally(exception.made(statement)));
  });
});
