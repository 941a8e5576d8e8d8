import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { concurrencyOf } from '../../../cli/doctor/concurrency-check';
import { lifecycleOfCopy, policyOfSigningKey } from '../../../cli/doctor/protection-checks';
import { type ListeningServer, listenLocally } from '../../../local/listen-locally';
import { exampleConfig } from '../../infra/example-config';

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

describe('the concurrency of the account', () => {
  const look = (all: number | undefined, unreserved: number | undefined, changes: Record<string, unknown>) => {
    const AccountLimit = { ConcurrentExecutions: all, UnreservedConcurrentExecutions: unreserved };
    answer = { body: JSON.stringify({ AccountLimit }) };
    return concurrencyOf('eu-central-1', exampleConfig(changes));
  };

  it.each([
    [40, 40, { shards: 40 }],
    [40, 40, { shards: 500 }],
    [101, 100, { limits: { oneRunAtATime: true } }],
    [108, 100, { shards: 8, limits: { oneRunAtATime: true } }],
  ])('is enough: %p, %p, %j', async (all, unreserved, changes) => {
    const shown = await look(all, unreserved, changes);
    expect([shown.verdict, shown.act]).toEqual(['right', undefined]);
  });

  it.each([
    [10, 10, { shards: 40 }, /^a run needs 40 at once, and the account has 10, .*: the shards take turns/],
    [1000, 39, { shards: 500 }, /^a run needs 40 at once/],
    [100, 99, { limits: { oneRunAtATime: true } }, /oneRunAtATime cannot be deployed$/],
  ])('is worth knowing if it is less than a run needs: %p, %p, %j', async (all, unreserved, changes, found) => {
    const act = expect.stringContaining('Service Quotas');
    expect(await look(all, unreserved, changes)).toMatchObject({ found: expect.stringMatching(found), act });
  });

  it('was not seen if Lambda does not say it', async () => {
    expect((await look(undefined, undefined, { shards: 2 })).verdict).toBe('not seen');
    answer = { status: 403, body: '{"Message":"no"}' };
    await expect(concurrencyOf('eu-central-1', exampleConfig())).rejects.toThrow(
      "Reading the account's limits of Lambda failed",
    );
  });
});
