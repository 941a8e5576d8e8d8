import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { lifecycleOfCopy, policyOfSigningKey } from '../../../cli/doctor/protection-checks';
import { type ListeningServer, listenLocally } from '../../../local/listen-locally';

const former = { ...process.env };
let server: ListeningServer;
let answer: { status?: number; body: string };

beforeAll(async () => {
  const answering = createServer((request, response) => {
    void text(request).then(() => response.writeHead(answer.status ?? 200).end(answer.body));
  });
  server = await listenLocally(answering);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: server.url,
    ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' },
  });
});
afterAll(() => {
  process.env = former;
  return server.close();
});

describe('the policy of an existing signing key', () => {
  const principal = { AWS: '*' };
  const condition = { ArnNotEquals: { 'aws:PrincipalArn': 'arn:aws:iam::1:role/audit' } };
  const refusal = { Effect: 'Deny', Principal: principal, Action: 'kms:Sign', Resource: '*', Condition: condition };
  const look = (Statement: object[]) => {
    answer = { body: JSON.stringify({ Policy: JSON.stringify({ Statement }) }) };
    return policyOfSigningKey('eu-central-1', 'key', JSON.stringify({ Sid: 'SignedByAuditOnly', ...refusal }));
  };

  it('is in order if it lets nobody but the audit sign, however it is written', async () => {
    const account = { Effect: 'Allow', Principal: principal, Action: 'kms:*', Resource: '*' };
    expect((await look([account, { Sid: 'x', ...refusal, Action: ['kms:Sign'] }])).verdict).toBe('right');
  });

  it('is a problem without that statement, or with the one of a role that is gone', async () => {
    const gone = { ArnNotEquals: { 'aws:PrincipalArn': 'arn:aws:iam::1:role/gone' } };
    for (const statements of [[], [{ ...refusal, Condition: gone }]])
      expect(await look(statements)).toMatchObject({
        verdict: 'wrong',
        act: expect.stringContaining('"Sid":"SignedByAuditOnly"'),
      });
  });
});

describe('the lifecycle of the copy', () => {
  const rule = (prefix: string, days: number) =>
    `<Rule><ID>x</ID><Filter><Prefix>${prefix}</Prefix></Filter><Status>Enabled</Status><Expiration><Days>${days}</Days></Expiration></Rule>`;
  const look = (days: readonly number[]) => {
    const rules = ['logs/', 'manifests/', 'runs/'].flatMap((prefix, at) => (days[at] ? rule(prefix, days[at]) : []));
    answer = { body: `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>` };
    return lifecycleOfCopy('arn:aws:s3:::copies', 400);
  };

  it('is in order if it has the days of the archive', async () => {
    expect((await look([400, 400, 400])).verdict).toBe('right');
  });

  it('is worth a warning if it has others, or none', async () => {
    expect(await look([400, 40])).toMatchObject({
      verdict: 'right',
      act: expect.stringContaining('give it the lifecycle'),
      found: expect.stringMatching(/below manifests\/, runs\/$/),
    });
    answer = { status: 404, body: '<Error><Code>NoSuchLifecycleConfiguration</Code></Error>' };
    expect((await lifecycleOfCopy('arn:aws:s3:::copies', 400)).act).toContain('give it the lifecycle');
  });

  it('cannot be looked at without the rights', async () => {
    answer = { status: 403, body: '<Error><Code>AccessDenied</Code><Message>no</Message></Error>' };
    await expect(lifecycleOfCopy('arn:aws:s3:::copies', 400)).rejects.toThrow('Reading the lifecycle of copies failed');
  });
});
