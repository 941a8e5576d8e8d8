import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import type { Check } from './conformance';
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
