import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Check } from '../../../cli/doctor/check';
import { FolderStore } from '../../../local/aws/store/folder-store';
import { type DeployedCollector, useLocalCollector } from '../../end-to-end/local-collector';
import { policyOf } from '../../end-to-end/template-policies';
import { templateOf } from '../../infra/example-stack';
import { newFolder } from '../../support/new-folder';
import { runCollector } from '../run-collector';
import { writeStartConfig } from '../run-start';
import { accountId, type ControlPlane, startControlPlane } from '../stack/control-plane';
import { type Answer, accessDenied, failure, region } from '../stack/live-account';

/** The archive is served by this machine, whose clock it has: an hour that is over. */
const now = new Date();
const lastHour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000);

const list = 'fleet.json';
const emails = ['night@example.com'];
/** All that doctor has a check of. */
const members = {
  clusters: { from: `s3://inventory/${list}` },
  shards: 2,
  limits: { oneRunAtATime: true },
  archive: { retentionDays: 400, replicateTo: { bucketArn: 'arn:aws:s3:::copies' } },
  alerts: { page: { emails }, inform: { emails }, heartbeat: { secret: 'monitoring/heartbeat' } },
  audit: { schedule: 'cron(30 6 * * ? *)' },
};
const collector = useLocalCollector(members);
const inventory = newFolder();

let deployed: DeployedCollector;
let plane: ControlPlane;
let config: string;
/** What every account answers that has the stack's signing key. */
let publicKey: Answer;

beforeAll(async () => {
  const content = Buffer.from(JSON.stringify(['alpha', 'beta']));
  await new FolderStore(inventory).put(list, content, { contentType: 'application/json' });
  config = await writeStartConfig(newFolder(), {
    name: 'my-collector',
    service: { baseUrl: collector.demo.url },
    ...members,
  });
  deployed = await collector.deployForAll({
    otherBuckets: [{ name: 'inventory', folder: inventory }],
    // As who asks: somebody who may read all of it.
    edit: (template) => {
      const { Statement } = policyOf(template, 'AWS::IAM::Policy', 'AuditRole');
      Statement.push({ Effect: 'Allow', Action: '*', Resource: '*' });
    },
  });
  await deployed.fireSchedule(lastHour);
  const audited = await deployed.audit?.invoke({});
  expect(audited?.payload).toMatchObject({ number: 1, damage: 0 });
  const { publicKeyFile, definition } = deployed.audit ?? {};
  const key = createPublicKey(readFileSync(publicKeyFile ?? '')).export({ type: 'spki', format: 'der' });
  publicKey = { body: JSON.stringify({ PublicKey: key.toString('base64') }) };
  plane = await startControlPlane(deployed, templateOf(members));
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: definition?.role.accessKeyId,
    AWS_SECRET_ACCESS_KEY: definition?.role.secretAccessKey,
    AWS_SESSION_TOKEN: definition?.role.sessionToken,
  });
  plane.informed = plane.subscriptions;
  const SigningKey = `arn:aws:kms:${region}:${accountId}:key/theirs`;
  const statement = { Effect: 'Deny', Principal: '*', Action: 'kms:Sign', Resource: '*' };
  plane.outputs = { SigningKey, SigningKeyPolicy: JSON.stringify({ Sid: 'SignedByAuditOnly', ...statement }) };
  plane.live.keys.theirs = { arn: SigningKey, state: 'Enabled', policy: { Statement: [statement] } };
  const { ArchiveBucket49F1AC64: ofArchive } = plane.live.buckets;
  if (ofArchive === undefined) throw new Error('no bucket');
  plane.live.resources.push(['Copies', 'AWS::S3::Bucket', 'copies']);
  plane.live.buckets.Copies = ofArchive;
});
afterAll(() => plane.close());

/** @param answerTo what AWS answers a call in the place of the usual; undefined: that */
async function doctor(answerTo: (name: string) => Answer | undefined = () => undefined) {
  const called = new Set<string>();
  plane.instead = (call, path) => {
    const name = nameOf(call, path);
    called.add(name);
    return answerTo(name) ?? (call === 'kms:GetPublicKey' ? publicKey : undefined);
  };
  const surroundings = { environment: {}, interruption: () => new AbortController().signal, wait: async () => {} };
  const { code, out } = await runCollector(['doctor', '--json', '--config', config], { now }, surroundings);
  const { summary, checks } = JSON.parse(out) as { summary: string; checks: Check[] };
  // Whom it would ask, a list from outside says to runs alone.
  const ofAccount = checks.filter(({ what }) => what !== 'service');
  return { code, summary, checks: ofAccount, called: [...called] };
}

/** Of S3 with the bucket, and with what is read there: the same call serves several checks. */
function nameOf(call: string, path: string): string {
  if (!call.startsWith('s3:')) return call;
  const [, bucket, prefix = ''] = path.split('/');
  return `${call} ${bucket}/${prefix}`;
}

/** What an account without the stack answers, by service. */
const notThere: Readonly<Record<string, string>> = {
  ...{ cloudformation: 'ValidationError', iam: 'NoSuchEntity', kms: 'NotFoundException', s3: 'NoSuchBucket' },
  ...{ cloudwatch: 'ResourceNotFound', lambda: 'ResourceNotFoundException' },
  ...{ secretsmanager: 'ResourceNotFoundException', sns: 'NotFound' },
};
const serviceOf = (name: string) => name.split(':')[0] ?? '';

/** Not seen here, they show elsewhere: in the next run, in the next deployment, in the account of the copy. */
const showsElsewhere =
  /^(secretsmanager:GetSecretValue|lambda:GetAccountSettings|s3:GetBucketLifecycleConfiguration copies\/)$/;

it('everything that doctor has a check of in an account is looked at here, and is well', async () => {
  const { code, checks, called } = await doctor();
  expect(checks.filter(({ verdict }) => verdict !== 'right')).toEqual([]);
  expect(code).toBe(0);
  expect(checks.map(({ what }) => what)).toEqual([
    ...['configuration', 'schedule', 'missing runs', 'recipients'],
    ...['stack', 'API key', 'subscriptions', 'subscriptions of inform'],
    ...['policies of buckets', 'lifecycle', 'versions', 'Object Lock', 'replication', 'public access', 'encryption'],
    ...['keys', 'roles', 'rights', 'retention', 'list of clusters', 'concurrency', 'seals', 'signing key', 'copy'],
    ...['heartbeat', 'newest run'],
  ]);
  expect(called).toEqual(
    expect.arrayContaining([
      ...[
        'iam:SimulatePrincipalPolicy',
        'cloudwatch:GetMetricStatistics',
        'kms:GetPublicKey',
        's3:GET inventory/fleet.json',
      ],
      ...['runs', 'configurations', 'seals'].map((prefix) => `s3:GET ${deployed.bucket}/${prefix}`),
    ]),
  );
});

it.each<[string, (name: string) => Answer]>([
  ['refused', accessDenied],
  [
    'answered by another account',
    (name) => failure(name, notThere[serviceOf(name)] ?? '', serviceOf(name) === 'cloudformation' ? 400 : 404),
  ],
  ['answered with a status that is unknown today', (name) => failure(name, 'TeapotException', 418)],
])(
  'doctor never says that all is well if one call of it is %s',
  async (_, answerTo) => {
    const { called, summary: well } = await doctor();
    expect(called.length).toBeGreaterThan(30);
    for (const name of called) {
      const { code, summary, checks } = await doctor((one) => (one === name ? answerTo(name) : undefined));
      const isRight = checks.every(({ verdict }) => verdict === 'right');
      const isWell = summary === well;
      const ends = showsElsewhere.test(name) ? expect.any(Number) : 1;
      expect({ name, isWell, isRight, code }).toEqual({ name, isWell: false, isRight: false, code: ends });
    }
  },
  900_000,
);
