import { randomUUID } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import type { Check } from './conformance';
import { failureOf } from './expect-failure';

const Bucket = 'archive';
const denied = { status: 403, code: 'AccessDenied' };

export const policyChecks: Readonly<Record<string, Check>> = {
  'denies a role what its policy does not allow, and says which policy it lacks': async ({ writer }) => {
    const Key = `runs/${randomUUID()}`;
    const put = await failureOf(writer.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' })));
    expect(put).toMatchObject(denied);
    expect(put.message).toMatch(
      /is not authorized to perform: s3:PutObject on resource: arn:aws:s3:::\S+ because no identity-based policy allows the s3:PutObject action$/,
    );
    expect(await failureOf(writer.s3.send(new ListObjectsV2Command({ Bucket })))).toMatchObject(denied);
    const Existing = { Bucket, Key: `logs/${randomUUID()}` };
    expect(await failureOf(writer.s3.send(new GetObjectCommand(Existing)))).toMatchObject(denied);
  },

  'hides from a role that may not list whether an object is there': async ({ s3, writer }) => {
    const Key = `readable/${randomUUID()}`;
    const absent = await failureOf(writer.s3.send(new GetObjectCommand({ Bucket, Key })));
    expect(absent).toMatchObject(denied);
    expect(await failureOf(writer.s3.send(new HeadObjectCommand({ Bucket, Key })))).toMatchObject({ status: 403 });
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    expect((await writer.s3.send(new GetObjectCommand({ Bucket, Key }))).ContentLength).toBe(1);
  },

  'denies what the bucket policy denies, even to a role that may do everything': async ({ s3 }) => {
    const Key = randomUUID();
    const put = await failureOf(s3.send(new PutObjectCommand({ Bucket: 'guarded', Key, Body: 'x' })));
    expect(put).toMatchObject(denied);
    expect(put.message).toMatch(/with an explicit deny in a resource-based policy$/);
    await s3.send(new PutObjectCommand({ Bucket: 'guarded', Key, Body: 'x', IfNoneMatch: '*' }));
    expect(await failureOf(s3.send(new DeleteObjectCommand({ Bucket: 'guarded', Key })))).toMatchObject(denied);
  },

  'denies a secret to a role whose policy does not name it': async ({ writer, secret }) => {
    const get = await failureOf(writer.secrets.send(new GetSecretValueCommand({ SecretId: secret.name })));
    expect(get).toMatchObject({ status: 400, code: 'AccessDeniedException' });
    expect(get.message).toMatch(
      /is not authorized to perform: secretsmanager:GetSecretValue on resource: \S+ because no identity-based policy allows the secretsmanager:GetSecretValue action$/,
    );
  },
};
