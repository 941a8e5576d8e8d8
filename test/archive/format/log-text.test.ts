import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { LogTextDecoder } from '../../../archive/format/log-text';
import { anyCharacter } from '../../support/any-character';

async function extract(record: string, chunkSize = 7): Promise<{ text: string; found: boolean; isLossy: boolean }> {
  const bytes = Buffer.from(record);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize) chunks.push(bytes.subarray(at, at + chunkSize));
  const log = new LogTextDecoder();
  const text = (await buffer(log.decode(chunks))).toString();
  return { text, found: log.found, isLossy: log.isLossy };
}

describe('the text of a log', () => {
  it('the text of any log comes out as it went in, however the record is cut into chunks', async () => {
    const document = fc.record({
      before: fc.jsonValue(),
      log: fc.string({ unit: anyCharacter, maxLength: 60 }),
      chunkSize: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(document, async ({ before, log, chunkSize }) => {
        const record = JSON.stringify({ metadata: { before }, spec: { clusterUid: 'c', log }, status: { state: 's' } });
        expect(await extract(record, chunkSize)).toMatchObject({ text: log.toWellFormed(), found: true });
      }),
    );
  });

  it.each([
    ['a log elsewhere', { log: 'no', metadata: { log: 'no', spec: { log: 'no' } } }],
    ['a log further down', { spec: { deep: { log: 'no' }, list: [{ log: 'no' }] } }],
    ['a section that is a list', { spec: ['log', 'no'] }],
    ['a log that is null', { spec: { log: null } }],
  ])('%s is not the text', async (_, record) => {
    expect(await extract(JSON.stringify(record))).toEqual({ text: '', found: false, isLossy: false });
  });

  it('names written with escapes are the same names', async () => {
    expect((await extract('{"sp\\u0065c":{"l\\u006fg":"x"}}')).text).toBe('x');
  });

  it('half a surrogate pair is left out and reported', async () => {
    expect(await extract('{"spec":{"log":"a\\ud800b"}}')).toEqual({ text: 'ab', found: true, isLossy: true });
  });

  it('a record that is cut short is an error', async () => {
    await expect(extract('{"spec":{"log":"abc')).rejects.toThrow();
  });

  it('a byte order mark before the record is not text', async () => {
    expect(await extract('\ufeff{"spec":{"log":"abc"}}')).toEqual({ text: 'abc', found: true, isLossy: false });
  });

  it('bytes of the text that are not UTF-8 stay as they are', async () => {
    const text = Buffer.from('gr\xf6\xdfe \xe2\x82', 'latin1');
    const record = Buffer.concat([Buffer.from('{"spec":{"log":"'), text, Buffer.from('"},"status":{}}')]);
    for (const size of [1, 2, 100]) {
      const chunks = Array.from({ length: Math.ceil(record.length / size) }, (_, i) =>
        record.subarray(i * size, (i + 1) * size),
      );
      expect(await buffer(new LogTextDecoder().decode(chunks))).toEqual(text);
    }
  });
});
