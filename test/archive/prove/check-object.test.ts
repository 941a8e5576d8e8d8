import { Readable } from 'node:stream';
import { checkObject } from '../../../archive/prove/check-object';
import { ArchivedLogs } from '../../lambda/audit/archived-logs';

it('an object whose connection breaks is read again, and its content is counted once', async () => {
  const archive = new ArchivedLogs();
  const lines = Array.from({ length: 200_000 }, (_, line) => `${Math.imul(line, 2_654_435_761)}\n`);
  const outcome = archive.put('c', new Date('2026-11-20T08:00:00Z'), lines.join(''));
  const open = archive.bucket.open.bind(archive.bucket);
  const brokenOff = function* (body: Buffer) {
    for (let at = 0; at < body.length / 2; at += 16_384) yield body.subarray(at, at + 16_384);
    throw new Error('reset');
  };
  archive.bucket.open = async (key) => {
    const object = await open(key);
    const { body } = archive.bucket.objects.get(key) ?? {};
    return object && body && archive.opened === 1 ? { ...object, body: Readable.from(brokenOff(body)) } : object;
  };
  const { bytes, problem } = await checkObject(archive.bucket, outcome.key, outcome);
  expect([archive.opened, bytes, problem]).toEqual([2, outcome.bytes, undefined]);
});
