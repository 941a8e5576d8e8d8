import { createServer } from 'node:http';
import { refuseShorterRetention } from '../../infra/deployed-retention';
import { listenLocally } from '../../local/listen-locally';
import { exampleConfig } from './example-config';
import { templateOf } from './example-stack';

const former = { ...process.env };
afterAll(() => {
  process.env = former;
});

const archiveOf = (retentionDays: number | undefined) => (retentionDays === undefined ? {} : { retentionDays });

/** Deploys with a retention where CloudFormation gives this answer. */
async function deploy(retentionDays: number | undefined, status: number, body: string) {
  const warnings: string[] = [];
  const server = await listenLocally(createServer((_, response) => response.writeHead(status).end(body)));
  Object.assign(process.env, { AWS_ENDPOINT_URL: server.url, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' });
  const config = exampleConfig({ archive: archiveOf(retentionDays) });
  try {
    await refuseShorterRetention(config, 'eu-central-1', 'c.json', (message) => warnings.push(message));
    return warnings;
  } finally {
    await server.close();
  }
}

/** The answer about a stack that was deployed with a retention. */
function deployed(retentionDays: number | undefined): string {
  const { Outputs = {} } = templateOf({ archive: archiveOf(retentionDays) });
  const value = Outputs.RetentionDays?.Value;
  const output = `<OutputKey>RetentionDays</OutputKey><OutputValue>${value}</OutputValue>`;
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs><member>${output}</member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}

const failed = (message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>${message}</Message></Error></ErrorResponse>`;

describe('a deployment', () => {
  it.each<[number | undefined, number | undefined, RegExp]>([
    [40, 400, /at least 400, as deployed\..*-c shortenRetention=true/],
    [400, undefined, /nothing, as deployed: nothing expires/],
  ])('with %p days after one with %p days is refused', async (days, before, expected) => {
    const problem = {
      path: 'archive.retentionDays',
      received: String(days),
      expected: expect.stringMatching(expected),
    };
    await expect(deploy(days, 200, deployed(before))).rejects.toMatchObject({ problems: [problem] });
  });

  it.each([
    [400, 400],
    [401, 400],
    [undefined, 400],
  ])('with %p days after one with %p days is not', async (days, before) => {
    expect(await deploy(days, 200, deployed(before))).toEqual([]);
  });

  it('that is the first is not, and says so if it cannot ask', async () => {
    expect(await deploy(40, 400, failed('Stack with id fleet does not exist'))).toEqual([]);
    expect(await deploy(40, 400, failed('not authorized'))).toEqual([
      expect.stringMatching(/could not be asked how long its archive is kept \(ValidationError: not authorized\)/),
    ]);
  });
});
