import { DescribeSecretCommand, GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import type { Check } from './conformance';
import { failureOf } from './expect-failure';

export const secretChecks: Readonly<Record<string, Check>> = {
  'gives a secret by its name, its ARN, and its ARN without the last characters': async ({ secrets, secret }) => {
    for (const SecretId of [secret.name, secret.arn, secret.arn.replace(/-[^-]{6}$/, '')]) {
      const got = await secrets.send(new GetSecretValueCommand({ SecretId }));
      expect(got).toMatchObject({
        SecretString: secret.value,
        Name: secret.name,
        ARN: secret.arn,
        VersionStages: ['AWSCURRENT'],
      });
      expect(got.CreatedDate).toBeInstanceOf(Date);
    }
  },

  'says the same of a secret without a value as of an absent one, in other words': async ({ secrets, emptySecret }) => {
    const absent = secrets.send(new GetSecretValueCommand({ SecretId: 'absent' }));
    expect(await failureOf(absent)).toEqual({
      status: 400,
      code: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret.",
    });
    const empty = secrets.send(new GetSecretValueCommand({ SecretId: emptySecret }));
    expect(await failureOf(empty)).toEqual({
      status: 400,
      code: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
    });
  },

  'gives the value that was put last': async ({ secrets, secret }) => {
    const before = await secrets.send(new GetSecretValueCommand({ SecretId: secret.name }));
    const put = await secrets.send(new PutSecretValueCommand({ SecretId: secret.name, SecretString: 'änother' }));
    const after = await secrets.send(new GetSecretValueCommand({ SecretId: secret.name }));
    expect(after.SecretString).toBe('änother');
    expect(after.VersionId).toBe(put.VersionId);
    expect(after.VersionId).not.toBe(before.VersionId);
    const described = await secrets.send(new DescribeSecretCommand({ SecretId: secret.name }));
    expect(described.VersionIdsToStages?.[after.VersionId ?? '']).toEqual(['AWSCURRENT']);
    await secrets.send(new PutSecretValueCommand({ SecretId: secret.name, SecretString: secret.value }));
  },

  'refuses a name that can be none': async ({ secrets }) => {
    const get = secrets.send(new GetSecretValueCommand({ SecretId: '' }));
    expect(await failureOf(get)).toMatchObject({ status: 400, code: 'ValidationException' });
  },
};
