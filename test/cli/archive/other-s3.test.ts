import { ArchiveFixture, hour, plainAnswer } from '../archive-fixture';
import { asBucket } from '../operator-archive';
import { runCollector } from '../run-collector';

describe('an S3 that is not AWS, by AWS_ENDPOINT_URL_S3 alone', () => {
  let bucket: Awaited<ReturnType<typeof asBucket>>;

  beforeAll(async () => {
    const archive = await ArchiveFixture.create();
    await archive.attempt({ run: hour(9), clusters: ['alpha'], answer: plainAnswer });
    bucket = await asBucket(archive.folder);
    bucket.time = hour(9.5);
    const { AWS_ENDPOINT_URL: url, ...others } = process.env;
    process.env = { ...others, AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_ENDPOINT_URL_S3: url };
  });
  afterAll(() => bucket.close());

  it.each(['runs', 'list', 'verify', 'show alpha', 'history alpha', 'log alpha'])('%s reads it', async (command) => {
    const { code, out, err } = await runCollector([...command.split(' '), '--archive', bucket.location]);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('error') });
    expect(out).not.toBe('');
  });
});
