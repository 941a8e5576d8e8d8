import { createPublicKey, verify } from 'node:crypto';
import { GetPublicKeyCommand, SignCommand } from '@aws-sdk/client-kms';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { PublishCommand } from '@aws-sdk/client-sns';
import type { Check, Subject } from './conformance';
import { failureOf } from './expect-failure';

export const secretChecks: Readonly<Record<string, Check>> = {
  'gives a secret by its name, its ARN, and its ARN without the last characters': async ({ secrets, secret }) => {
    for (const SecretId of [secret.name, secret.arn, secret.arn.replace(/-[^-]{6}$/, '')]) {
      const got = await secrets.send(new GetSecretValueCommand({ SecretId }));
      expect(got).toMatchObject({ SecretString: secret.value, Name: secret.name, ARN: secret.arn });
    }
  },

  'answers ResourceNotFoundException for an absent secret and for one without a value': async ({ secrets }) => {
    const absent = secrets.send(new GetSecretValueCommand({ SecretId: 'absent' }));
    expect(await failureOf(absent)).toEqual({
      status: 400,
      code: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret.",
    });
    const empty = secrets.send(new GetSecretValueCommand({ SecretId: 'empty' }));
    expect(await failureOf(empty)).toEqual({
      status: 400,
      code: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
    });
  },
};

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

export const topicChecks: Readonly<Record<string, Check>> = {
  'takes a message with a subject, and gives it an identifier': async ({ sns, topic }) => {
    const message = { TopicArn: topic, Subject: 'OK: 4 of 4 runs complete', Message: 'Zeile 1\nline 2 & <3> ü' };
    const { MessageId } = await sns.send(new PublishCommand(message));
    expect(MessageId).toMatch(/^[0-9a-f-]{36}$/);
  },

  'refuses a subject that is long, of two lines or outside of ASCII': async ({ sns, topic }) => {
    for (const Subject of ['x'.repeat(101), 'two\nlines', 'größer', ' begins with a space'])
      expect(
        await failureOf(sns.send(new PublishCommand({ TopicArn: topic, Subject, Message: 'text' }))),
      ).toMatchObject({ status: 400, code: 'InvalidParameterException' });
  },

  'refuses an empty message': async ({ sns, topic }) => {
    const publish = sns.send(new PublishCommand({ TopicArn: topic, Message: '' }));
    expect(await failureOf(publish)).toMatchObject({ status: 400, code: 'InvalidParameterException' });
  },

  'refuses a caller without the permission to publish': async ({ writer, topic }) => {
    const publish = writer.sns.send(new PublishCommand({ TopicArn: topic, Message: 'text' }));
    expect(await failureOf(publish)).toMatchObject({ status: 403, code: 'AuthorizationErrorException' });
  },
};
