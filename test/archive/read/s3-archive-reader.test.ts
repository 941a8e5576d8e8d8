import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { objectKey, runRecordKey } from '../../../archive/format/keys';
import { S3ArchiveReader } from '../../../archive/read/s3-archive-reader';
import type { LoggedRequest } from '../../../local/aws/aws-endpoint';
import { rolePolicySchema } from '../../../local/aws/iam/policy-document';
import { type LocalAws, startLocalAws } from '../../../local/aws/local-aws';
import { listenLocally } from '../../../local/listen-locally';
import { ArchiveFixture, type AttemptFixture, hourly, logRecord } from '../../cli/archive-fixture';
import { runCollector } from '../../cli/run-collector';
import { runVerify } from '../../cli/run-verify';

const guide = readFileSync(join(__dirname, '../../../docs/reading-the-archive.md'), 'utf8');
/** The policy in the guide. */
const policy = JSON.parse(
  (/```json\n(\{\s*"Version": "2012-10-17"[\s\S]*?)```/.exec(guide)?.[1] ?? '').replaceAll(
    'my-archive',
    'archive-bucket',
  ),
);

const hour = (at: number) => new Date(Date.UTC(2026, 10, 20, at));
/** By which the bucket goes too. */
const now = new Date();
const clusters = ['alpha', 'beta/1 x'];
const environment = {
  AWS_ACCESS_KEY_ID: 'AKIAREADER',
  AWS_SECRET_ACCESS_KEY: 'reader-secret',
  AWS_REGION: 'eu-central-1',
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
};

/** What one reader is refused. */
const refusedKey = runRecordKey({ run: hour(9), attempt: 1 });
const refusing = (key: string) => ({
  Statement: { Effect: 'Deny', Action: 's3:GetObject', Resource: `*/${key}` },
});
const principal = (accessKeyId: string, ...policies: object[]) => {
  const arn = `arn:aws:iam::123456789012:user/${accessKeyId}`;
  return {
    accessKeyId,
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
    arn,
    policies: policies.map((one) => rolePolicySchema.parse(one)),
  };
};

let archive: ArchiveFixture;
let aws: LocalAws;
let requests: LoggedRequest[] = [];
const before = { ...process.env };

beforeAll(async () => {
  archive = await ArchiveFixture.create();
  const answer =
    (at: number): AttemptFixture['answer'] =>
    (cluster, resource) => ({ content: resource === 'log' ? logRecord(cluster, `at ${at}\n`) : `at: ${at}\n` });
  // Of a bucket, verify says what is due up to now.
  const schedule = { ...hourly, expression: 'cron(0 8-10 20 11 ? 2026)' };
  for (const at of [8, 9, 10])
    await archive.attempt({ run: hour(at), clusters, answer: answer(at), configuration: { schedule } });
  aws = await startLocalAws({
    region: 'eu-central-1',
    principals: [
      principal(environment.AWS_ACCESS_KEY_ID, policy),
      principal('AKIALEAST', JSON.parse(JSON.stringify(policy).replace('"s3:ListBucketVersions"', '"s3:ListBucket"'))),
      principal('AKIAPARTLY', policy, refusing(refusedKey)),
      principal('AKIAOUTCOMES', policy, refusing('configurations/*')),
    ],
    buckets: [
      { name: 'archive-bucket', folder: archive.folder },
      { name: 'foreign-bucket', folder: archive.folder },
    ],
    secrets: [],
    onRequest: (request) => requests.push(request),
  });
});

beforeEach(() => {
  requests = [];
  Object.assign(process.env, environment, { AWS_ENDPOINT_URL: aws.url });
  for (const [name, value] of Object.entries(environment)) if (value === undefined) delete process.env[name];
});

afterAll(async () => {
  process.env = before;
  await aws?.close();
});

const commands: [string, ...string[]][] = [
  ['runs'],
  ['runs', '2026-11-20T09:00'],
  ['list'],
  ['list', '--cluster', 'beta/1 x', '--from', '2026-11-20T09:00'],
  ['show', 'beta/1 x', '--at', '2026-11-20T09:30'],
  ['show', 'alpha', '--resource', 'log'],
  ['diff', 'alpha'],
  ['history', '--all'],
  ['history', 'alpha', '--json'],
  ['grep', 'at [0-9]+', '--last', '2'],
  ['grep', 'at 9', '--cluster', 'alpha', '--run', '2026-11-20T09:00'],
  ['verify'],
  ['report', '--out', '-'],
];

describe('an archive in a bucket', () => {
  it.each(commands)('is the same as in a folder to %s %s %s %s %s %s', async (...args) => {
    const fromBucket = await runCollector([...args, '--archive', 's3://archive-bucket'], { now });
    const fromFolder = await runCollector([...args, '--archive', archive.folder], { now });
    const { code, out, err } = fromFolder;
    // The report says when it was written.
    const written = /written <time>.*?<\/time>/;
    const inBucket = (text: string) => text.replaceAll(archive.folder, 's3://archive-bucket').replace(written, '');
    const bucket = { ...fromBucket, out: fromBucket.out.replace(written, '') };
    expect(bucket).toEqual({ code, out: inBucket(out), err: inBucket(err) });
    expect(err).not.toContain('failed');
    expect(new Set(requests.map(({ method }) => method))).not.toContain('PUT');
    // A reader does without versions where the store has none.
    expect(requests.filter(({ status, code }) => status !== 200 && code !== 'NotImplemented')).toEqual([]);
  });

  it('finds the history of one cluster by one record of each run', async () => {
    await runCollector(['history', 'alpha', '--archive', 's3://archive-bucket'], { now });
    const read = requests.flatMap(({ key }) => key?.split('/')[0] ?? []);
    // The configuration says when runs were due.
    expect(read.sort()).toEqual(['configurations', 'runs', 'runs', 'runs']);
  });

  it.each<[number, ...string[]]>([
    // Whether it is an archive, and its time; of runs and of objects the oldest one and the newest day; the run record,
    // metadata; the next run, its record and the configuration, which say what was due; content.
    [12, 'show', 'alpha', '--at', '2026-11-20T09:30'],
    [7, 'grep', 'at 9', '--run', '2026-11-20T09:00'],
  ])('takes at most %i requests for %s %s %s %s', async (most, ...args) => {
    const { code } = await runCollector([...args, '--archive', 's3://archive-bucket'], { now: hour(11) });
    expect(code).toBe(0);
    expect(requests.length).toBeLessThanOrEqual(most);
  });

  it.each([
    ['runs'],
    ['list'],
    ['report', '--out', '-'],
    ['verify'],
  ])('of which one run record may not be read is read nonetheless by %s, whose exit code is 3', async (...args) => {
    process.env.AWS_ACCESS_KEY_ID = 'AKIAPARTLY';
    const { code, out, err } = await runCollector([...args, '--archive', 's3://archive-bucket'], { now: hour(11) });
    expect([code, out.includes('10:00')]).toEqual([3, args[0] !== 'verify']);
    expect(`${out}${err}`.replaceAll(/[\s│:]/g, '')).toContain(`Reading${refusedKey}`.replaceAll(':', ''));
  });

  it('of which one run record may not be read ends log --strict as a gap in the others does', async () => {
    process.env.AWS_ACCESS_KEY_ID = 'AKIAPARTLY';
    const args = ['log', 'alpha', '--strict', '--from', '2026-11-20', '--archive', 's3://archive-bucket'];
    const { code, err } = await runCollector(args, { now: hour(11) });
    expect([code, err]).toEqual([1, expect.stringMatching(/: gap: (.*\n)+unreadable: Reading /)]);
  });

  it.each([
    ['runs'],
    ['list'],
    ['report', '--out', '-'],
  ])('whose configurations may not be read is read nonetheless by %s, which names them once', async (...args) => {
    process.env.AWS_ACCESS_KEY_ID = 'AKIAOUTCOMES';
    const { code, out, err } = await runCollector([...args, '--archive', 's3://archive-bucket'], { now });
    expect([code, out.includes('10:00')]).toEqual([3, true]);
    expect(err.replace(/^As recorded: .*\n/, '')).toMatch(
      /^unreadable: Reading .* 403 .*\n {2}configurations\/[0-9a-f]{64}\.json\.gz\n$/,
    );
  });

  it('that may not be read is an error that names the page about permissions', async () => {
    const { code, err } = await runCollector(['runs', '--archive', 's3://foreign-bucket'], { now });
    expect(code).toBe(3);
    expect(err).toMatch(/Listing runs\/ in s3:\/\/foreign-bucket failed: 403 .*docs\/reading-the-archive\.md/);
  });

  it('is not called right by a reader who may not see what was deleted', async () => {
    process.env.AWS_ACCESS_KEY_ID = 'AKIALEAST';
    const { code, result } = await runVerify('s3://archive-bucket');
    const problem = expect.stringMatching(
      /^not checked whether seals were deleted or overwritten; .*s3:ListBucketVersions/,
    );
    expect([code, result.findings]).toEqual([3, [{ kind: 'unreadable', key: 'seals/*', problem }]]);
    const { out } = await runCollector(['verify', '--archive', 's3://archive-bucket'], { now });
    expect(out).toContain('Not everything could be read. Found: 1 unreadable.');
    expect((await runCollector(['verify', '--seals', '--archive', 's3://archive-bucket'], { now })).code).toBe(3);
  });

  it('says that an object in an archive class has to be restored before it can be read', async () => {
    const body =
      '<Error><Code>InvalidObjectState</Code><Message>The operation is not valid</Message><StorageClass>GLACIER</StorageClass></Error>';
    const answering = createServer((_, response) =>
      response.writeHead(403, { 'content-type': 'application/xml' }).end(body),
    );
    const { url, close } = await listenLocally(answering);
    const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret' };
    const client = new S3Client({ endpoint: url, region: 'eu-central-1', credentials, forcePathStyle: true });
    const key = objectKey({ resource: 'log', cluster: 'a', run: hour(8) });
    await expect(new S3ArchiveReader('b', client).open(key)).rejects.toThrow(
      /403 InvalidObjectState; .* has to be restored/,
    );
    await close();
  });

  it('finds an object missing that S3 no longer has', async () => {
    const key = objectKey({ resource: 'manifest', cluster: 'alpha', run: hour(8) });
    const file = join(archive.folder, key);
    const content = await readFile(file);
    await rm(file);
    const { code, result } = await runVerify('s3://archive-bucket');
    await writeFile(file, content);
    expect([code, result.findings]).toEqual([1, [{ kind: 'missing', key, problem: 'it is not there' }]]);
  });

  it('is judged by the clock of S3, whatever the clock of the reader says', async () => {
    const key = objectKey({ resource: 'log', cluster: 'gamma', run: hour(8) });
    await archive.put(key, Buffer.from('x'), {});
    const { kinds } = await runVerify('s3://archive-bucket', [], now);
    expect(kinds).toContain(`pending ${key}`);
    await rm(join(archive.folder, key));
  });

  it.each(['s3://', 's3://UPPER', 's3://bucket/prefix', 'https://bucket'])('cannot be named %s', async (location) => {
    const { code, err } = await runCollector(['runs', '--archive', location]);
    expect(code).toBe(3);
    expect(err).toContain('expected a folder or s3://bucket');
  });
});
