import { Upload } from '../../../../local/aws/s3/upload';

const signing = { seed: '', signText: () => Promise.resolve('') };

test('gives up a body as soon as it is longer than announced', async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (; read < 1000; read++) yield Buffer.alloc(1024);
  }
  const upload = new Upload({ 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'content-length': '5000' });
  const reading = (async () => {
    for await (const chunk of upload.bytes(endless(), signing)) expect(chunk).toHaveLength(1024);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'IncompleteBody' });
  expect(read).toBeLessThan(10);
});
