import type { Check, Subject } from './conformance';
import { admin, region } from './endpoint-setup';
import { answerOf } from './expect-failure';
import { RawClient, type RawCredentials, type RawRequest } from './raw-request';

type Headers = Record<string, string>;

interface Refusal {
  readonly request?: Partial<RawRequest>;
  /** Of the caller, changed. */
  readonly credentials?: Partial<RawCredentials>;
  readonly answer: [status: number, code: string];
}

/** Calls with something wrong in what they are signed with, each by what is wrong. */
const refusals: Readonly<Record<string, Refusal>> = {
  'a request that is not signed': {
    request: { tamper: ({ authorization: _, ...headers }) => headers },
    answer: [403, 'AccessDenied'],
  },
  'a header that was changed after it was signed': {
    request: { headers: { 'x-amz-checksum-mode': 'ENABLED' }, tamper: (signed) => withMode(signed, 'DISABLED') },
    answer: [403, 'SignatureDoesNotMatch'],
  },
  'an x-amz- header that was not signed': {
    request: { tamper: (signed) => withMode(signed, 'ENABLED') },
    answer: [403, 'AccessDenied'],
  },
  'a signature made with another secret key': {
    credentials: { secretAccessKey: 'another' },
    answer: [403, 'SignatureDoesNotMatch'],
  },
  'an unknown access key': { credentials: { accessKeyId: 'AKIAUNKNOWN' }, answer: [403, 'InvalidAccessKeyId'] },
  'a wrong session token': { credentials: { sessionToken: 'another' }, answer: [400, 'InvalidToken'] },
};

export const signatureChecks: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    Object.entries(refusals).map(([what, { request, credentials, answer }]) => [
      `refuses ${what}`,
      async ({ raw: { url } }: Subject) => {
        const raw = new RawClient(url, region, { ...admin, ...credentials });
        expect(answerOf(await raw.send({ method: 'GET', path: '/archive/absent', ...request }))).toEqual(answer);
      },
    ]),
  ),

  'refuses a request for Secrets Manager whose body was changed after it was signed': async ({ raw }) => {
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' };
    const request = { method: 'POST', path: '/', service: 'secretsmanager', headers };
    const signed = await raw.sign({ ...request, body: Buffer.from('{}') });
    const sent = { ...request, body: Buffer.from('{"SecretId":"a"}'), tamper: () => signed };
    expect(answerOf(await raw.send(sent))).toEqual([403, 'SignatureDoesNotMatch']);
  },
};

function withMode(headers: Headers, mode: string): Headers {
  return { ...headers, 'x-amz-checksum-mode': mode };
}
