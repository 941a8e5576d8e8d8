import dns from 'node:dns';
import { openBucket } from '../../../archive/read/open-bucket';
import { regionHint } from '../../../archive/read/region-hint';
import { runCollector } from '../../cli/run-collector';

const notFound = (hostname: string, code = 'ENOTFOUND') =>
  Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { code, hostname });

it.each([
  [
    'archive.s3.eu-cental-1.amazonaws.com',
    'eu-cental-1 is not a region that this version knows (the nearest is eu-central-1)',
  ],
  [
    'cloudformation.us-eest-1.amazonaws.com',
    'us-eest-1 is not a region that this version knows (the nearest is us-east-1)',
  ],
  ['lambda.eu-frankfurt-1.amazonaws.com', /^eu-frankfurt-1 is not a region that this version knows; check --region/],
])('a host %s that is not there has another region', async (host, said) => {
  const hint = await regionHint(notFound(host));
  if (said instanceof RegExp) expect(hint).toMatch(said);
  else expect(hint).toBe(`${said}; check --region, deployTo.region, AWS_REGION and the profile`);
  expect(await regionHint(notFound(host, 'EAI_AGAIN'))).toBe(hint);
});

it.each([
  ['in a region that is there', notFound('archive.s3.eu-central-1.amazonaws.com')],
  ['of all regions', notFound('sts.amazonaws.com')],
  ['that is not of AWS', notFound('minio.eu-cental-1.example.com')],
  ['that refuses', notFound('archive.s3.eu-cental-1.amazonaws.com', 'ECONNREFUSED')],
])('nothing is said of a host %s', async (_, error) => {
  expect(await regionHint(error)).toBeUndefined();
});

describe('a command with a misspelt region', () => {
  const before = { ...process.env };

  beforeEach(() => {
    const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3, AWS_PROFILE, ...others } = before;
    process.env = { ...others, AWS_REGION: 'eu-cental-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' };
    const lookup = (host: string, _: object, done: (error: Error) => void) => done(notFound(host));
    jest.spyOn(dns, 'lookup').mockImplementation(lookup as never);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.env = before;
  });

  const said = 'eu-cental-1 is not a region that this version knows (the nearest is eu-central-1)';

  it('that reads an archive says it', async () => {
    const { code, err } = await runCollector(['runs', '--archive', 's3://my-archive']);
    expect([code, err]).toEqual([3, expect.stringContaining(said)]);
  });

  it.each([
    ['--region', ['--region', 'eu-cental-1']],
    ['AWS_REGION', []],
  ])('that asks for a stack says it, by %s', async (_, region) => {
    const { code, err } = await runCollector(['run', '--stack', 'my-collector', ...region]);
    expect([code, err]).toEqual([3, expect.stringContaining(said)]);
  });

  it('that is read by openBucket has the region that was named', async () => {
    const reader = await openBucket('my-archive', 'eu-wast-1');
    await expect(reader.time()).rejects.toThrow(
      'eu-wast-1 is not a region that this version knows (the nearest is eu-west-1)',
    );
  });
});
