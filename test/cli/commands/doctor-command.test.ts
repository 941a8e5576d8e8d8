import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Check } from '../../../cli/doctor/check';
import type { LocalDeployment } from '../../../local/deployment/deploy-locally';
import { useLocalCollector } from '../../end-to-end/local-collector';
import { templateOf } from '../../infra/example-stack';
import { operations, pipelineGuide } from '../../infra/guides';
import { newFolder } from '../../support/new-folder';
import { runCollector } from '../run-collector';
import { ofFirstResources, writeStartConfig } from '../run-start';
import { accountId, type ControlPlane, startControlPlane } from '../stack/control-plane';
import { accessDenied } from '../stack/live-account';

/** The right that a call needs, where its name is another one. */
const rightOf = (call: string) =>
  ({
    's3:GetBucketLifecycleConfiguration': 's3:GetLifecycleConfiguration',
    's3:GetObjectLockConfiguration': 's3:GetBucketObjectLockConfiguration',
    's3:GetBucketReplication': 's3:GetReplicationConfiguration',
    's3:GetPublicAccessBlock': 's3:GetBucketPublicAccessBlock',
    's3:GetBucketEncryption': 's3:GetEncryptionConfiguration',
    ...{ 's3:List': 's3:ListBucket', 's3:GET': 's3:GetObject' },
  })[call] ?? call;

/** The rights that docs/pipeline.md lists for doctor. */
function rightsInGuide(): string[] {
  const [, list = ''] = /\n\n((?: {4}\w+:.*\n)+)\nWith `shards`/.exec(pipelineGuide) ?? [];
  return list
    .split(/\s+/)
    .filter((right) => right !== '')
    .sort();
}

/** The archive is served by this machine, whose clock it has: half past an hour that is over. */
const now = new Date();
const lastHour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000);
const hoursAgo = (hours: number) => new Date(lastHour.getTime() - hours * 3_600_000);
const time = (date: Date) => date.toISOString().replace('.000', '');

describe('collector doctor', () => {
  const clusters = ofFirstResources('alpha', 'beta');
  const collector = useLocalCollector({ clusters });
  const root = newFolder();
  let config: string;
  let deployed: LocalDeployment;
  let plane: ControlPlane;

  beforeAll(async () => {
    const service = { baseUrl: collector.demo.url };
    const alerts = { page: { emails: ['night@example.com'] } };
    const archive = { retentionDays: 400 };
    config = await writeStartConfig(root, { name: 'my-collector', service, clusters, alerts, archive });
  });
  beforeEach(async () => {
    deployed = await collector.deploy();
    plane = await startControlPlane(deployed);
  });
  afterEach(() => plane.close());

  async function doctor(args: string[], environment: Record<string, string> = {}) {
    const all = [
      'doctor',
      '--json',
      ...(args.includes('--stack') || args.includes('--config') ? [] : ['--config', config]),
      ...args,
    ];
    const surroundings = { environment, interruption: () => new AbortController().signal, wait: async () => {} };
    const { code, out, err } = await runCollector(all, { now }, surroundings);
    expect(out + err).not.toContain(collector.key);
    const document =
      out === '' ? undefined : (JSON.parse(out) as { verdict: string; summary: string; checks: Check[] });
    const verdicts = Object.fromEntries(document?.checks.map(({ what, verdict }) => [what, verdict]) ?? []);
    const find = (what: string) => document?.checks.find((check) => check.what === what);
    return { code, err, verdict: document?.verdict, summary: document?.summary, verdicts, find };
  }

  it('finds all well after a run, and asks the service once with the key from the secret', async () => {
    await deployed.fireSchedule(lastHour);
    const { code, verdict, summary, verdicts, find } = await doctor([]);
    expect(verdicts).toEqual({
      configuration: 'right',
      schedule: 'right',
      'missing runs': 'right',
      recipients: 'right',
      stack: 'right',
      'API key': 'right',
      subscriptions: 'right',
      'policies of buckets': 'right',
      lifecycle: 'right',
      versions: 'right',
      'Object Lock': 'right',
      replication: 'right',
      'public access': 'right',
      encryption: 'right',
      keys: 'right',
      roles: 'right',
      rights: 'right',
      retention: 'right',
      'newest run': 'right',
      service: 'right',
    });
    expect(verdict).toBe('right');
    // The demo service listens on this machine, which no function in AWS reaches.
    expect(summary).toBe('1 worth knowing; 19 right.');
    expect(find('stack')?.found).toBe('my-collector in account 111122223333, region eu-central-1: CREATE_COMPLETE');
    expect(find('newest run')?.found).toMatch(new RegExp(`^${time(lastHour)}, .*: complete, 4 of 4 archived$`));
    expect(find('service')?.found).toMatch(/answered for cluster alpha with a log record of .* KiB in /);
    expect(code).toBe(0);
  });

  it('names what is wrong in the account, each with what to do', async () => {
    await plane.close();
    deployed = await collector.deploy({ secretValue: undefined });
    plane = await startControlPlane(deployed);
    plane.status = 'ROLLBACK_COMPLETE';
    plane.subscriptions = [['email', 'night@example.com', 'PendingConfirmation']];
    collector.failing.beta = 'not-found';
    await deployed.fireSchedule(hoursAgo(4)).catch(() => undefined);
    const { code, verdicts, find } = await doctor([]);
    expect(verdicts).toMatchObject({
      stack: 'wrong',
      'API key': 'wrong',
      subscriptions: 'wrong',
      'newest run': 'wrong',
      service: 'not seen',
    });
    expect(find('API key')).toMatchObject({ found: expect.stringContaining('no value yet') });
    expect(find('subscriptions')?.act).toContain('follow the link');
    expect(find('newest run')?.found).toMatch(
      new RegExp(`scheduled runs? (of|since) ${time(hoursAgo(3))} (is|are) missing`),
    );
    expect(find('newest run')?.act).toContain(` --run ${time(hoursAgo(3))} --without-record`);
    for (const what of Object.keys(verdicts).filter((name) => verdicts[name] !== 'right'))
      expect(find(what)?.act).toBeTruthy();
    expect(code).toBe(1);
  });

  it.each([
    ['ROLLBACK_COMPLETE', 'When the first deployment fails'],
    ['UPDATE_ROLLBACK_FAILED', 'When an update fails'],
  ])('points from the state %s to "%s", a heading of the guide', async (status, heading) => {
    plane.status = status;
    expect((await doctor([])).find('stack')?.act).toBe(`see docs/operations.md, "${heading}"`);
    expect(operations).toContain(`\n### ${heading}\n`);
  });

  it('looks at the recipients of both groups', async () => {
    plane.informed = [['email', 'day@example.com', 'PendingConfirmation']];
    const { find } = await doctor([]);
    expect(find('subscriptions')?.verdict).toBe('right');
    expect(find('subscriptions of inform')).toMatchObject({
      verdict: 'wrong',
      found: 'not confirmed: email day@example.com',
    });
    plane.subscriptions = undefined;
    const act = 'use credentials that may list the subscriptions';
    expect((await doctor([])).find('subscriptions')).toMatchObject({ verdict: 'not seen', act });
  });

  it('names an address whose subscription is gone, and the command that subscribes it again', async () => {
    plane.subscriptions = [['email', 'day@example.com', `arn:aws:sns:eu-central-1:${accountId}:alerts:2`]];
    const { find, code } = await doctor([]);
    expect(find('subscriptions')).toMatchObject({
      verdict: 'wrong',
      found: expect.stringMatching(/^not subscribed: night@example\.com; SNS deletes/),
      act: expect.stringMatching(/\naws sns subscribe .* --protocol email --notification-endpoint night@example\.com$/),
    });
    expect(code).toBe(1);
  });

  it('names what was changed by hand, and a retention that is not the deployed one', async () => {
    const bucket = plane.live.buckets.ArchiveBucket49F1AC64;
    if (bucket?.policy === undefined) throw new Error('no policy');
    bucket.policy.Statement = bucket.policy.Statement.filter(({ Sid }) => Sid !== 'NoDeletion');
    plane.retentionDays = 'never';
    const { find, code } = await doctor([]);
    expect(find('policies of buckets')).toMatchObject({
      verdict: 'wrong',
      found: expect.stringMatching(
        /^ArchiveBucket49F1AC64, NoDeletion: deployed \{.*s3:DeleteObject\*.*\}, found nothing$/,
      ),
      act: expect.stringContaining('docs/alarms.md, "Bringing back what was deployed"'),
    });
    expect(find('retention')).toMatchObject({
      verdict: 'wrong',
      found: 'objects are kept for ever, by the configuration 400 days',
    });
    expect(code).toBe(1);
    plane.retentionDays = '40';
    expect((await doctor([])).find('retention')).toMatchObject({ verdict: 'right', act: 'deploy, if that is meant' });
  });

  it('does not end well if it could not see what protects the archive', async () => {
    await deployed.fireSchedule(lastHour);
    plane.instead = (call) => (call === 's3:GetBucketPolicy' ? accessDenied(call) : undefined);
    const { code, verdict, summary, find } = await doctor([]);
    expect(find('policies of buckets')).toMatchObject({
      verdict: 'not seen',
      found: expect.stringContaining('Reading the policy of ArchiveBucket49F1AC64 failed'),
    });
    expect([verdict, summary, code]).toEqual(['not seen', '1 not seen, 1 worth knowing; 18 right.', 1]);
  });

  it('has not seen the newest run if it may list the run records, and read none', async () => {
    await deployed.fireSchedule(lastHour);
    plane.instead = (call) => (call === 's3:GET' ? accessDenied(call) : undefined);
    const { code, find } = await doctor([]);
    expect(find('newest run')).toMatchObject({
      verdict: 'not seen',
      found: expect.stringContaining('403 AccessDenied'),
    });
    expect(code).toBe(1);
  });

  describe('in an account where everything is asked', () => {
    let all: string;
    beforeEach(async () => {
      await deployed.fireSchedule(lastHour);
      const alerts = { page: { emails: ['night@example.com'] }, heartbeat: { secret: 'monitoring/heartbeat' } };
      const archive = { retentionDays: 400, replicateTo: { bucketArn: 'arn:aws:s3:::copies' } };
      const service = { baseUrl: collector.demo.url };
      all = await writeStartConfig(root, { name: 'my-collector', service, clusters, alerts, archive }, 'all.json');
      const SigningKey = `arn:aws:kms:eu-central-1:${accountId}:key/theirs`;
      const statement = { Effect: 'Deny', Principal: '*', Action: 'kms:Sign', Resource: '*' };
      await plane.close();
      plane = await startControlPlane(deployed, templateOf({ archive }));
      plane.outputs = { SigningKey, SigningKeyPolicy: JSON.stringify({ Sid: 'SignedByAuditOnly', ...statement }) };
      plane.live.keys.theirs = { arn: SigningKey, state: 'Enabled', policy: { Statement: [statement] } };
      const { ArchiveBucket49F1AC64: ofArchive } = plane.live.buckets;
      if (ofArchive === undefined) throw new Error('no bucket');
      plane.live.resources.push(['Copies', 'AWS::S3::Bucket', 'copies']);
      plane.live.buckets.Copies = ofArchive;
    });

    const well = '1 worth knowing; 22 right.';
    async function callsOf(): Promise<string[]> {
      expect((await doctor(['--config', all])).summary).toBe(well);
      return [...new Set(plane.calls)];
    }

    it.each<[string, readonly (readonly [lost: number, hours: number])[], object]>([
      ['nothing is lost', [], { verdict: 'right', found: expect.stringContaining('none was refused in the 7 days') }],
      [
        'the newest was lost',
        [
          [1, 30],
          [2, 1],
        ],
        {
          verdict: 'wrong',
          found: expect.stringMatching(/^the monitoring service did not take 3 in the 7 days before now, the last/),
          act: expect.stringContaining('"heartbeat lost"'),
        },
      ],
      [
        'one was lost, and none since',
        [[1, 100]],
        { verdict: 'right', found: expect.stringContaining('later ones were taken'), act: expect.any(String) },
      ],
      ['one was lost long ago', [[1, 400]], { verdict: 'right', found: expect.stringContaining('none was refused') }],
    ])('tells what the monitoring service outside did not take: %s', async (_, lost, expected) => {
      plane.heartbeatsLost = lost.map(([count, hours]) => [count, hoursAgo(hours)]);
      expect((await doctor(['--config', all])).find('heartbeat')).toMatchObject(expected);
    });

    it('has not seen what was lost if CloudWatch answers otherwise', async () => {
      for (const body of ['{}', '{"Datapoints":[{"Sum":1}]}', '{"Datapoints":[{"Timestamp":1764000000}]}']) {
        plane.instead = (call) => (call === 'cloudwatch:GetMetricStatistics' ? { body } : undefined);
        const { find, code } = await doctor(['--config', all]);
        expect([find('heartbeat')?.verdict, code]).toEqual(['not seen', 1]);
      }
    });

    it('needs the rights that the guide for pipelines lists, and no other', async () => {
      const asked = (await callsOf()).filter((call) => call !== 'secretsmanager:GetSecretValue');
      // With an audit it reads seals.
      const rights = [...asked.map(rightOf), 'kms:GetPublicKey'];
      expect(rightsInGuide()).toEqual([...new Set(rights)].sort());
    });
  });

  it('gives the command that completes an incomplete newest run', async () => {
    collector.failing.beta = 'not-found';
    await deployed.fireSchedule(lastHour);
    expect((await doctor([])).find('newest run')).toEqual({
      what: 'newest run',
      verdict: 'wrong',
      found: expect.stringContaining(': incomplete, 2 of 4 archived'),
      act: `complete it: npm run collector -- run --stack my-collector --region eu-central-1 --run ${time(lastHour)}`,
    });
  });

  it('says what the service answers to a wrong key from the environment', async () => {
    const { find } = await doctor([], { COLLECTOR_API_KEY: 'wrong-key' });
    expect(find('service')).toMatchObject({
      verdict: 'wrong',
      found: expect.stringContaining('401'),
      act: expect.stringContaining('whether the key is valid'),
    });
    expect(JSON.stringify(find('service'))).not.toContain('wrong-key');
  });

  it('looks at a configuration alone with --offline, and asks nobody', async () => {
    const { code, verdicts } = await doctor(['--offline']);
    expect(Object.keys(verdicts)).toEqual(['configuration', 'schedule', 'missing runs', 'recipients']);
    expect(plane.calls).toEqual([]);
    expect(code).toBe(0);
  });

  it('without credentials looks at the configuration, and says that the account could not be looked at', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) delete process.env[name];
    Object.assign(process.env, {
      AWS_CONFIG_FILE: join(root, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(root, 'none'),
    });
    const { code, verdicts, find } = await doctor([], { COLLECTOR_API_KEY: collector.key });
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) delete process.env[name];
    expect(verdicts).toMatchObject({ configuration: 'right', schedule: 'right', stack: 'not seen', service: 'right' });
    expect(find('stack')?.found).toMatch(/no valid credentials were found; run `aws configure`/);
    expect(code).toBe(1);
  });

  it('says that a stack is wrong if AWS answers that it is not there, or has no collector', async () => {
    const stackOf = async (...args: string[]) => (await doctor(args)).find('stack');
    const absent = { verdict: 'wrong', found: expect.stringContaining('region eu-central-1 of this account has none') };
    expect(await stackOf('--stack', 'another')).toMatchObject(absent);
    const empty = { verdict: 'wrong', found: expect.stringContaining('it has no function') };
    expect(await stackOf('--stack', 'my-collector/Lab')).toMatchObject(empty);
  });

  it.each(['DescribeStacks', 'ListStackResources'])('has not seen the stack if %s is refused', async (action) => {
    const refused = `cloudformation:${action}`;
    plane.instead = (call) => (call === refused ? accessDenied(call) : undefined);
    const { code, verdict, find } = await doctor([]);
    expect([find('stack')?.verdict, verdict, code]).toEqual(['not seen', 'not seen', 1]);
  });

  it('tells a configuration that cannot be used with all its problems', async () => {
    const bad = join(root, 'bad.json');
    await writeFile(bad, JSON.stringify({ name: 'x', clusters: [] }));
    const { code, find } = await doctor(['--config', bad]);
    expect(find('configuration')).toMatchObject({ verdict: 'wrong', found: expect.stringContaining('service') });
    expect(code).toBe(1);
  });

  it('prints for people the verdict first, and what to do below each look', async () => {
    plane.subscriptions = [];
    const { out } = await runCollector(['doctor', '--config', config], { now });
    expect(out.split('\n')[0]).toBe('1 wrong, 2 worth knowing; 17 right.');
    expect(out).toMatch(
      /^x subscriptions: not subscribed: night@example\.com; .*\n {4}Do: subscribe again, .*\n {4}aws sns /m,
    );
  });
});
