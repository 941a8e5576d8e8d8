import { createServer } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { S3ArchiveReader } from '../../../../archive/read/s3-archive-reader';
import { type ListeningServer, listenLocally } from '../../../../local/listen-locally';

const seal = (number: number) => `seals/0000000${number}.jsonl`;
const version = (key: string, isLatest: boolean, at: string) =>
  `<Version><Key>${key}</Key><VersionId>v</VersionId><IsLatest>${isLatest}</IsLatest><LastModified>${at}</LastModified></Version>`;
const page = (content: string, more = '<IsTruncated>false</IsTruncated>') =>
  `<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${more}${content}</ListVersionsResult>`;

describe('the versions of seals in a bucket', () => {
  let server: ListeningServer;
  let urls: URL[];
  let answer: (url: URL) => { status?: number; body: string };
  let reader: S3ArchiveReader;
  let client: S3Client;

  beforeEach(async () => {
    urls = [];
    const answering = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      urls.push(url);
      const { status = 200, body } = answer(url);
      response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
    });
    server = await listenLocally(answering);
    client = new S3Client({
      endpoint: server.url,
      forcePathStyle: true,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'AKIAREADER', secretAccessKey: 'reader-secret' },
      maxAttempts: 1,
    });
    reader = new S3ArchiveReader('archive-bucket', client);
  });

  afterEach(async () => {
    client.destroy();
    await server.close();
  });

  it('show what was overwritten and what was deleted, on all pages, and not what is current', async () => {
    const marker = `<IsTruncated>true</IsTruncated><NextKeyMarker>${seal(2)}</NextKeyMarker><NextVersionIdMarker>v2</NextVersionIdMarker>`;
    const deleted = `<DeleteMarker><Key>${seal(3)}</Key><VersionId>v</VersionId><IsLatest>true</IsLatest><LastModified>2026-11-22T00:00:00.000Z</LastModified></DeleteMarker>`;
    answer = ({ searchParams }) =>
      searchParams.has('key-marker')
        ? { body: page(deleted) }
        : {
            body: page(
              version(seal(1), true, '2026-11-20T00:00:00.000Z') + version(seal(2), false, '2026-11-21T00:00:00.000Z'),
              marker,
            ),
          };
    expect(await reader.replaced('seals/')).toEqual([
      { key: seal(2), at: new Date('2026-11-21T00:00:00Z') },
      { key: seal(3), at: new Date('2026-11-22T00:00:00Z') },
    ]);
    expect(urls.map(({ searchParams }) => [searchParams.get('prefix'), searchParams.get('key-marker')])).toEqual([
      ['seals/', null],
      ['seals/', seal(2)],
    ]);
    expect(urls[1]?.searchParams.get('version-id-marker')).toBe('v2');
  });

  it.each([405, 501])('does not find any where the store keeps none: %i', async (status) => {
    answer = () => ({ status, body: '<Error><Code>NotImplemented</Code><Message>no</Message></Error>' });
    expect(await reader.replaced('seals/')).toEqual([]);
  });

  it('are a lasting error where they may not be asked for', async () => {
    answer = () => ({ status: 403, body: '<Error><Code>AccessDenied</Code><Message>no</Message></Error>' });
    await expect(reader.replaced('seals/')).rejects.toMatchObject({ isLasting: true });
  });

  it('are an error where S3 is down', async () => {
    answer = () => ({ status: 503, body: '<Error><Code>SlowDown</Code><Message>no</Message></Error>' });
    await expect(reader.replaced('seals/')).rejects.toThrow(
      'Listing the versions of seals/ in s3://archive-bucket failed: 503 SlowDown',
    );
  });
});
