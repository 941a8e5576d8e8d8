import { createHash, createHmac } from 'node:crypto';
import { SigningHash } from '../../../lambda/archive/signing-hash';

const text = Buffer.from('AWS4-HMAC-SHA256\n20261122T120000Z');
const whole = Buffer.from('before-key-behind');

describe('the hash that requests to S3 are signed with', () => {
  it.each([
    ['a string', 'sécret'],
    ['bytes', new Uint8Array([1, 0, 255])],
    ['a part of other bytes', new Uint8Array(whole.buffer, whole.byteOffset + 7, 3)],
    ['a view', new DataView(new Uint8Array([7, 8, 9]).buffer, 1)],
    ['an ArrayBuffer', new Uint8Array([7, 8, 9]).buffer],
  ])('signs with %s as Node does, however often', async (_what, secret) => {
    const bytes = ArrayBuffer.isView(secret)
      ? Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength)
      : Buffer.from(secret as string);
    const expected = createHmac('sha256', bytes).update(text).digest('hex');
    for (let time = 0; time < 3; time += 1) {
      const hash = new SigningHash(secret);
      hash.update(text.subarray(0, 5));
      hash.update(text.subarray(5));
      expect(Buffer.from(await hash.digest()).toString('hex')).toBe(expected);
    }
  });

  it('tells secrets with the same length apart', async () => {
    const digests = [1, 2].map(async (byte) => {
      const hash = new SigningHash(new Uint8Array([byte]));
      hash.update(text);
      return Buffer.from(await hash.digest()).toString('hex');
    });
    expect(new Set(await Promise.all(digests)).size).toBe(2);
  });

  it.each([
    ['without a secret', undefined],
    ['with one', 'secret'],
  ])('begins again after a reset, %s', async (_how, secret) => {
    const hash = new SigningHash(secret);
    hash.update(Buffer.from('something else'));
    hash.reset();
    hash.update(text);
    const expected = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
    expect(Buffer.from(await hash.digest()).toString('hex')).toBe(expected.update(text).digest('hex'));
  });

  it('without a secret, goes on after a digest', async () => {
    const hash = new SigningHash();
    hash.update(text.subarray(0, 5));
    await hash.digest();
    hash.update(text.subarray(5));
    expect(Buffer.from(await hash.digest()).toString('hex')).toBe(createHash('sha256').update(text).digest('hex'));
  });
});
