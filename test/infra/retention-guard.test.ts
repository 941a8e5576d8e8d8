import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { refuseShorterRetention } from '../../infra/retention-guard';
import { listenLocally } from '../../local/listen-locally';
import { exampleConfig } from './example-config';
import { templateOf } from './example-stack';

const former = { ...process.env };
afterAll(() => {
  process.env = former;
});

const account = '111122223333';
const archiveOf = (retentionDays: number | undefined) => (retentionDays === undefined ? {} : { retentionDays });

type Answer = string | { readonly status: number; readonly body: string };

/** What AWS answers, by the action of a call. Calls as the lookup role have `lookup ` before their action. */
type Answers = Readonly<Record<string, Answer>>;

const failed = (code: string, message = 'no', status = 403): Answer => ({
  status,
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
});
const denied = failed('AccessDenied');
const noStack = failed('ValidationError', 'Stack with id fleet does not exist', 400);

const identity = (own: string) =>
  `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${own}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;
const assumed =
  '<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>LOOKUP</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>';
const stacks = (member: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks>${member}</Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const output = (value: unknown) =>
  `<member><Outputs><member><OutputKey>RetentionDays</OutputKey><OutputValue>${value}</OutputValue></member></Outputs></member>`;
/** A stack that was deployed with a retention. */
const deployed = (days: number | undefined) =>
  stacks(output(templateOf({ archive: archiveOf(days) }).Outputs?.RetentionDays?.Value));
/** A stack whose outputs do not name a retention. */
const silent = stacks('<member><StackName>fleet</StackName></member>');
const listed = (status: string) =>
  `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries><member><ResourceType>AWS::S3::Bucket</ResourceType><LogicalResourceId>ArchiveBucket49F1AC64</LogicalResourceId><PhysicalResourceId>fleet-archive</PhysicalResourceId><ResourceStatus>${status}</ResourceStatus></member></StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`;
const lifecycle = (days: readonly number[], status = 'Enabled', condition = '') => {
  const rules = ['logs/', 'manifests/', 'runs/'].map(
    (prefix, at) =>
      `<Rule><Filter><Prefix>${prefix}</Prefix>${condition}</Filter><Status>${status}</Status><Expiration><Days>${days[at]}</Days></Expiration></Rule>`,
  );
  return `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`;
};

/** Deploys with a retention where AWS gives these answers; resolves to the calls. */
async function deploy(retentionDays: number | undefined, answers: Answers, target = account): Promise<string[]> {
  const calls: string[] = [];
  const server = await listenLocally(
    createServer((request, response) => {
      void text(request).then((body) => {
        const form = new URLSearchParams(body);
        const who = request.headers.authorization?.includes('Credential=LOOKUP/') ? 'lookup ' : '';
        const call = `${who}${form.get('Action') ?? 'GetLifecycle'}`;
        calls.push(`${call} ${form.get('RoleArn') ?? ''}`.trim());
        const answer = answers[call] ?? denied;
        if (typeof answer === 'string') response.end(answer);
        else response.writeHead(answer.status).end(answer.body);
      });
    }),
  );
  Object.assign(process.env, { AWS_ENDPOINT_URL: server.url, AWS_ACCESS_KEY_ID: 'OWN', AWS_SECRET_ACCESS_KEY: 's' });
  const config = exampleConfig({ archive: archiveOf(retentionDays) });
  try {
    await refuseShorterRetention(config, { account: target, region: 'eu-central-1', qualifier: 'mine' }, 'c.json');
    return calls;
  } finally {
    await server.close();
  }
}

const refusedWith = (expected: RegExp) => ({
  problems: [{ path: 'archive.retentionDays', received: '40', expected: expect.stringMatching(expected) }],
});
const own = { GetCallerIdentity: identity(account) };
const other = { GetCallerIdentity: identity('999999999999'), AssumeRole: assumed };

describe('a deployment', () => {
  it('with 40 days after one with more is refused', async () => {
    await expect(deploy(40, { ...own, DescribeStacks: deployed(400) })).rejects.toMatchObject(
      refusedWith(/^at least 400, as deployed\..*-c shortenRetention=true/),
    );
    await expect(deploy(40, { ...own, DescribeStacks: deployed(undefined) })).rejects.toMatchObject(
      refusedWith(/^nothing, as deployed: nothing expires/),
    );
  });

  it.each([400, 401])('with %p days after one with 400 days is not', async (days) => {
    expect(await deploy(days, { ...own, DescribeStacks: deployed(400) })).toHaveLength(2);
  });

  it('of what never expires asks nobody', async () => {
    expect(await deploy(undefined, {})).toEqual([]);
  });

  it('that is the first is not refused', async () => {
    expect(await deploy(40, { ...own, DescribeStacks: noStack })).toHaveLength(2);
  });

  it('into another account is judged by what that account has', async () => {
    const role = `arn:aws:iam::${account}:role/cdk-mine-lookup-role-${account}-eu-central-1`;
    const elsewhere = { ...other, DescribeStacks: noStack };
    await expect(deploy(40, { ...elsewhere, 'lookup DescribeStacks': deployed(400) })).rejects.toMatchObject(
      refusedWith(/^at least 400/),
    );
    expect(await deploy(400, { ...elsewhere, 'lookup DescribeStacks': deployed(400) })).toEqual([
      'GetCallerIdentity',
      `AssumeRole ${role}`,
      'lookup DescribeStacks',
    ]);
    expect(await deploy(40, { ...elsewhere, 'lookup DescribeStacks': noStack })).toHaveLength(3);
  });

  it('asks as the lookup role what its own credentials may not ask', async () => {
    const answers = { ...own, AssumeRole: assumed, 'lookup DescribeStacks': deployed(400) };
    await expect(deploy(40, answers)).rejects.toMatchObject(refusedWith(/^at least 400/));
    expect(await deploy(400, answers)).toHaveLength(4);
  });

  const older = { ...own, DescribeStacks: silent, ListStackResources: listed('UPDATE_COMPLETE') };

  it('over a stack that does not say what is deployed is judged by the live lifecycle', async () => {
    await expect(deploy(40, { ...older, GetLifecycle: lifecycle([40, 400, 40]) })).rejects.toMatchObject(
      refusedWith(/^at least 400/),
    );
    expect(await deploy(40, { ...older, GetLifecycle: lifecycle([40, 40, 40]) })).toHaveLength(4);
    const unlimited = [
      failed('NoSuchLifecycleConfiguration', 'none', 404),
      lifecycle([40, 40, 40], 'Disabled'),
      lifecycle([40, 40, 40], 'Suspended'),
      lifecycle([40, 40, 40], 'Enabled', '<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>'),
    ];
    for (const answer of unlimited)
      await expect(deploy(40, { ...older, GetLifecycle: answer })).rejects.toMatchObject(
        refusedWith(/^nothing, as deployed: nothing expires/),
      );
  });

  it.each(['DELETE_COMPLETE', 'DELETE_SKIPPED'])('over a stack whose archive is %s is not refused', async (status) => {
    expect(await deploy(40, { ...older, ListStackResources: listed(status) })).toHaveLength(3);
  });
});

describe('a deployment is refused if nobody can say what is deployed, because', () => {
  const unanswered = refusedWith(
    /^no fewer days than are deployed, and nobody could say how many are: .*-c shortenRetention=true$/,
  );
  const throughLookup = {
    ...other,
    'lookup DescribeStacks': silent,
    'lookup ListStackResources': listed('CREATE_COMPLETE'),
  };
  const asOwner = { ...own, DescribeStacks: silent, ListStackResources: listed('CREATE_COMPLETE') };
  const unknown = failed('TeapotException', 'a status unknown today', 418);

  it.each<[string, Answers]>([
    ['nobody says whose the credentials are', {}],
    ['the role for lookups may not be assumed', { ...other, AssumeRole: denied }],
    ['neither the credentials nor the role may ask', { ...own, AssumeRole: assumed }],
    ['the role may not ask', other],
    ['the resources may not be listed', { ...own, DescribeStacks: silent }],
    ['the lifecycle may not be read', asOwner],
    ['the role may not read the lifecycle', throughLookup],
    [
      'the answer names no account',
      { ...own, GetCallerIdentity: '<GetCallerIdentityResponse/>', DescribeStacks: noStack },
    ],
    ['the answer names no stack', { ...own, DescribeStacks: stacks('') }],
    [
      'the stack is said to be absent by an error of another kind',
      { ...own, DescribeStacks: failed('Throttling', 'does not exist', 400) },
    ],
    ['the days are not a number', { ...own, DescribeStacks: stacks(output('soon')) }],
    [
      'whose credentials they are is answered with an unknown status',
      { GetCallerIdentity: unknown, DescribeStacks: noStack },
    ],
    ['the role is answered with an unknown status', { ...other, AssumeRole: unknown }],
    ['the stack is answered with an unknown status', { ...own, DescribeStacks: unknown }],
    ['the resources are answered with an unknown status', { ...asOwner, ListStackResources: unknown }],
    ['the lifecycle is answered with an unknown status', { ...asOwner, GetLifecycle: unknown }],
  ])('%s', async (_, answers) => {
    await expect(deploy(40, answers)).rejects.toMatchObject(unanswered);
  });

  it('no account is known', async () => {
    const config = exampleConfig({ archive: archiveOf(40) });
    const nowhere = { account: undefined, region: 'eu-central-1', qualifier: 'mine' };
    await expect(refuseShorterRetention(config, nowhere, 'c.json')).rejects.toMatchObject(unanswered);
  });
});
