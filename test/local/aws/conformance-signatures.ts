import { randomUUID } from 'node:crypto';
import type { Check, Subject } from './conformance';
import { answerOf } from './expect-failure';
import { RawClient, type RawRequest } from './raw-request';

export const signatureChecks: Readonly<Record<string, Check>> = {
  'takes a signature over the path as RFC 3986 writes it, however it is sent': async ({ raw, bucket }) => {
    const key = randomUUID();
    const body = Buffer.from('x');
    const signedPath = `/${bucket}/${key}/a%20b%2Bc%25~%28`;
    const put = await raw.send({ method: 'PUT', path: `/${bucket}/${key}/a%20b%2bc%25%7E(`, signedPath, body });
    expect(answerOf(put)).toEqual([200, '']);
    const read = await raw.send({ method: 'GET', path: signedPath });
    expect([read.status, read.body]).toEqual([200, 'x']);
  },

  'refuses a request that is not signed': async (subject) => {
    const tamper = ({ authorization: _, ...headers }: Record<string, string>) => headers;
    expect(await get(subject, { tamper })).toEqual([403, 'AccessDenied']);
  },

  'refuses a wrong signature': async (subject) => {
    const tamper = (headers: Record<string, string>) => ({
      ...headers,
      authorization: (headers.authorization ?? '').replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    });
    expect(await get(subject, { tamper })).toEqual([403, 'SignatureDoesNotMatch']);
  },

  'refuses a header that was changed after it was signed': async (subject) => {
    const headers = { 'x-amz-checksum-mode': 'ENABLED' };
    const tamper = (signed: Record<string, string>) => ({ ...signed, 'x-amz-checksum-mode': 'DISABLED' });
    expect(await get(subject, { headers, tamper })).toEqual([403, 'SignatureDoesNotMatch']);
  },

  'refuses a signature made with another secret key': async (subject) => {
    const credentials = { ...subject.credentials, secretAccessKey: 'another' };
    const raw = new RawClient(subject.raw.url, subject.region, credentials);
    expect(await get({ ...subject, raw })).toEqual([403, 'SignatureDoesNotMatch']);
  },

  'refuses an unknown access key': async (subject) => {
    const credentials = { ...subject.credentials, accessKeyId: 'AKIAUNKNOWNUNKNOWN00' };
    const raw = new RawClient(subject.raw.url, subject.region, credentials);
    expect(await get({ ...subject, raw })).toEqual([403, 'InvalidAccessKeyId']);
  },

  'refuses a wrong session token': async (subject) => {
    const raw = new RawClient(subject.raw.url, subject.region, { ...subject.credentials, sessionToken: 'another' });
    expect(await get({ ...subject, raw })).toEqual([400, 'InvalidToken']);
  },

  'refuses an x-amz- header that was not signed': async (subject) => {
    const tamper = (headers: Record<string, string>) => ({ ...headers, 'x-amz-checksum-mode': 'ENABLED' });
    expect(await get(subject, { tamper })).toEqual([403, 'AccessDenied']);
  },

  'refuses a request that was signed more than fifteen minutes ago, or ahead': async (subject) => {
    for (const minutes of [-16, 16]) {
      const signingDate = new Date(Date.now() + minutes * 60_000);
      expect(await get(subject, { signingDate })).toEqual([403, 'RequestTimeTooSkewed']);
    }
  },

  'refuses a signature for another region or service': async (subject) => {
    expect(await get(subject, { region: 'us-west-2' })).toEqual([400, 'AuthorizationHeaderMalformed']);
    expect(await get(subject, { service: 'sqs' })).toEqual([400, 'AuthorizationHeaderMalformed']);
  },

  'refuses an authorization header it cannot read': async (subject) => {
    const tamper = (headers: Record<string, string>) => ({ ...headers, authorization: 'AWS4-HMAC-SHA256 nonsense' });
    expect(await get(subject, { tamper })).toEqual([400, 'AuthorizationHeaderMalformed']);
  },

  'refuses an unknown word in place of the payload hash': async (subject) => {
    expect(await get(subject, { payloadHash: 'nonsense' })).toEqual([400, 'InvalidArgument']);
  },

  'refuses a request for Secrets Manager whose body was changed after it was signed': async ({ raw }) => {
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' };
    const body = Buffer.from('{"SecretId":"a"}');
    const service = 'secretsmanager';
    const { authorization = '', ...rest } = await raw.sign({
      method: 'POST',
      path: '/',
      service,
      headers,
      body: Buffer.from('{}'),
    });
    const tamper = () => ({ ...rest, authorization });
    const answer = await raw.send({ method: 'POST', path: '/', service, headers, body, tamper });
    expect(answerOf(answer)).toEqual([400, 'InvalidSignatureException']);
  },
};

async function get({ raw, bucket }: Subject, request: Partial<RawRequest> = {}): Promise<[number, string]> {
  return answerOf(await raw.send({ method: 'GET', path: `/${bucket}/absent`, ...request }));
}
