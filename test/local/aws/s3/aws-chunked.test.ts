import * as fc from 'fast-check';
import { AwsChunkedBody } from '../../../../local/aws/s3/aws-chunked';
import { ServiceError } from '../../../../local/aws/service-error';
import { signedChunks, unsignedChunks } from './aws-chunks';

const trailer = 'x-amz-checksum-crc32';

async function decode(parts: readonly Buffer[], trailers: readonly string[] = [trailer]): Promise<[Buffer, object]> {
  async function* source(): AsyncGenerator<Buffer> {
    yield* parts;
  }
  const body = new AwsChunkedBody(source(), { trailers });
  const chunks: Buffer[] = [];
  for await (const chunk of body.bytes()) chunks.push(Buffer.from(chunk));
  return [Buffer.concat(chunks), Object.fromEntries(body.trailers)];
}

/** The bytes in parts that end at the given places. */
function split(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)).filter((part) => part.length > 0);
}

describe('AwsChunkedBody', () => {
  test('decodes a body however the network splits it', async () => {
    const chunks = [Buffer.alloc(8192, 'a'), Buffer.alloc(9000, '\r\n'), Buffer.from('0\r\n\r\n')];
    const bytes = unsignedChunks(chunks, `${trailer}:NhCmhg==`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 30 }), async (places) => {
        const [content, trailers] = await decode(split(bytes, places));
        expect(content.equals(Buffer.concat(chunks))).toBe(true);
        expect(trailers).toEqual({ [trailer]: 'NhCmhg==' });
      }),
    );
    const [content] = await decode(Array.from(bytes, (byte) => Buffer.of(byte)));
    expect(content.equals(Buffer.concat(chunks))).toBe(true);
  });

  test('refuses a body cut anywhere, or with anything behind it', async () => {
    const bytes = unsignedChunks([Buffer.from('hello')], `${trailer}:NhCmhg==`);
    for (let length = 0; length < bytes.length; length++)
      await expect(decode([bytes.subarray(0, length)])).rejects.toThrow(ServiceError);
    await expect(decode([bytes, Buffer.from('x')])).rejects.toMatchObject({ code: 'IncompleteBody' });
  });

  test('fails in a known way whatever the bytes are', async () => {
    const pieces = fc.constantFrom(
      '5',
      '\r\n',
      '\r',
      ';',
      'chunk-signature=',
      '0',
      'hello',
      ':',
      trailer,
      'ffffffffffff',
      '-1',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(pieces, fc.string())), async (parts) => {
        const outcome = await decode(parts.map((part) => Buffer.from(part))).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ServiceError);
      }),
    );
  });

  test('does not gather an endless line', async () => {
    let read = 0;
    async function* source(): AsyncGenerator<Buffer> {
      for (; read < 1000; read++) yield Buffer.alloc(1024, '1');
    }
    const body = new AwsChunkedBody(source(), { trailers: [] });
    await expect(body.bytes().next()).rejects.toMatchObject({ code: 'IncompleteBody' });
    expect(read).toBeLessThan(10);
  });

  // The example of the service's documentation: 65 KB of `a` in chunks of 64 KB.
  const chain = {
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
    stamp: '20130524T000000Z',
  };
  const chunks = [Buffer.alloc(65_536, 'a'), Buffer.alloc(1024, 'a')];

  test('signs as the example that the service publishes', () => {
    const seed = '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9';
    const signatures = signedChunks(chunks, { ...chain, seed })
      .toString()
      .match(/(?<=chunk-signature=)\w+/g);
    expect(signatures).toEqual([
      'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
      '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
      'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
    ]);
  });

  test('signs as the example with a trailer that the service publishes', () => {
    const seed = '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e';
    const signatures = signedChunks(chunks, { ...chain, seed }, 'x-amz-checksum-crc32c:sOO8/Q==')
      .toString()
      .match(/(?<=chunk-signature=|trailer-signature:)\w+/g);
    expect(signatures).toEqual([
      'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
      '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
      '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
      'd81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435',
    ]);
  });
});
