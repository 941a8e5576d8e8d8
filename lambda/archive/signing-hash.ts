import { createHash, createHmac, createSecretKey, type Hash, type Hmac, type KeyObject } from 'node:crypto';
import type { S3ClientConfig } from '@aws-sdk/client-s3';

type Secret = ConstructorParameters<NonNullable<S3ClientConfig['sha256']>>[0];

/** Keys made of bytes, which must not change after that. The SDK signs for a day with the same ones. */
const keys = new WeakMap<object, KeyObject>();

/**
 * SHA-256 and HMAC-SHA-256 for the SDK's signer. The SDK's own class makes a key for each signature, which takes Node four
 * times as long as to sign: 3 % of a fleet's processor time.
 */
export class SigningHash {
  readonly digestLength = 32;
  readonly #secret: Secret;
  #hash: Hash | Hmac;

  /** @param secret of an HMAC; left out: plain SHA-256 */
  constructor(secret?: Secret) {
    this.#secret = secret;
    this.#hash = begin(secret);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  /** What was hashed so far. Without a secret, more may follow. */
  async digest(): Promise<Uint8Array> {
    return 'copy' in this.#hash ? this.#hash.copy().digest() : this.#hash.digest();
  }

  reset(): void {
    this.#hash = begin(this.#secret);
  }
}

function begin(secret: Secret): Hash | Hmac {
  if (secret === undefined) return createHash('sha256');
  return createHmac('sha256', typeof secret === 'string' ? secret : keyOf(secret));
}

function keyOf(secret: Exclude<Secret, string | undefined>): KeyObject {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const bytes = ArrayBuffer.isView(secret)
    ? Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength)
    : Buffer.from(secret);
  const key = createSecretKey(bytes);
  keys.set(secret, key);
  return key;
}
