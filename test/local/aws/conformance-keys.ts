import { createPublicKey, verify } from 'node:crypto';
import { GetPublicKeyCommand, SignCommand } from '@aws-sdk/client-kms';
import type { Check, Subject } from './conformance';
import { failureOf } from './expect-failure';

/** What a seal has signed: its hash, as text. */
const message = Buffer.from('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08');

async function signatureOf({ kms, signingKey }: Pick<Subject, 'kms' | 'signingKey'>): Promise<Uint8Array> {
  const command = {
    KeyId: signingKey,
    Message: message,
    MessageType: 'RAW',
    SigningAlgorithm: 'ECDSA_SHA_256',
  } as const;
  const { Signature = new Uint8Array(), KeyId, SigningAlgorithm } = await kms.send(new SignCommand(command));
  expect({ KeyId, SigningAlgorithm }).toEqual({ KeyId: signingKey, SigningAlgorithm: 'ECDSA_SHA_256' });
  return Signature;
}

async function publicKeyOf({ kms, signingKey }: Pick<Subject, 'kms' | 'signingKey'>): Promise<Buffer> {
  const { PublicKey, KeyUsage, SigningAlgorithms } = await kms.send(new GetPublicKeyCommand({ KeyId: signingKey }));
  expect({ KeyUsage, SigningAlgorithms }).toEqual({ KeyUsage: 'SIGN_VERIFY', SigningAlgorithms: ['ECDSA_SHA_256'] });
  return Buffer.from(PublicKey ?? []);
}

export const keyChecks: Readonly<Record<string, Check>> = {
  'signs a message, and gives the public key as SPKI with which node:crypto verifies it': async (subject) => {
    const key = createPublicKey({ key: await publicKeyOf(subject), format: 'der', type: 'spki' });
    const signature = await signatureOf(subject);
    expect(verify('sha256', message, key, signature)).toBe(true);
    expect(verify('sha256', Buffer.from('another'), key, signature)).toBe(false);
  },

  'refuses a caller without the permission to sign or to get the public key': async ({ writer, ...subject }) => {
    for (const call of [signatureOf, publicKeyOf])
      expect(await failureOf(call({ ...subject, kms: writer.kms }))).toMatchObject({
        status: 400,
        code: 'AccessDeniedException',
        message: expect.stringMatching(/not authorized to perform: kms:(Sign|GetPublicKey) on resource: arn:aws:kms/),
      });
  },

  'answers NotFoundException for a key that is not there': async (subject) => {
    const signingKey = subject.signingKey.replace(/key\/.*/, 'key/11111111-2222-3333-4444-555555555555');
    expect(await failureOf(signatureOf({ ...subject, signingKey }))).toMatchObject({
      status: 400,
      code: 'NotFoundException',
    });
  },
};
