import { objectKey } from '../../../../archive/format/keys';
import { memoryLimitBytes } from '../../../../lambda/collect/body/spool';
import type { Fault, InterceptedRequest } from '../../../support/aws-faults';
import { type FaultService, startFaultService } from '../../../support/fault-service';
import { ok } from '../../../support/fault-service-answers';
import { logRecord } from '../../../support/fault-service-bodies';
import { RealCollector, testKey, testRun } from '../../../support/real-collector';
import { recordOf } from '../../../support/record-text';

/** Every fault of S3 and Secrets Manager, through the real SDK clients. */

let service: FaultService;
let collector: RealCollector;
const calls: string[] = [];

/** Random text does not compress, so that it spills to a file. */
const spilling = Array.from({ length: memoryLimitBytes / 4 }, () => Math.random().toString(36).slice(2, 10)).join('');

interface Served {
  readonly secret?: string | null;
  readonly log?: string;
  /** `status.state` of every log. */
  readonly state?: string;
  readonly uids?: readonly string[];
}

async function start(
  intercept: (request: InterceptedRequest, nth: number) => Fault | undefined,
  { secret = testKey, log = 'text', state, uids = ['a'] }: Served = {},
) {
  service = await startFaultService(({ uid = '' }) => ok(logRecord({ uid, log, ...(state && { state }) })));
  const asked = new Map<string, number>();
  calls.length = 0;
  collector = await RealCollector.start({
    secret,
    service: { baseUrl: service.url },
    clusters: uids.map((uid) => ({ uid, resources: ['log'] })),
    intercept: (request) => {
      const nth = (asked.get(`${request.action} ${request.key}`) ?? 0) + 1;
      asked.set(`${request.action} ${request.key}`, nth);
      calls.push(`${request.action} ${request.key?.split('/')[0] ?? ''}`.trim());
      return intercept(request, nth);
    },
  });
}

afterEach(async () => {
  await collector.close();
  await service.close();
});

const logKey = objectKey({ cluster: 'a', resource: 'log', run: testRun });
const recordKey = 'runs/date=2026-11-20/20261120T100000.000Z.attempt-1.jsonl';
const ofLogs = ({ key }: InterceptedRequest) => key?.startsWith('logs/') === true;
const error = (status: number, code: string): Fault => ({ kind: 'error', status, code });

describe.each([
  ['in memory', 'text'],
  ['spilled to a file', spilling],
])('writing an object that is %s', (_where, log) => {
  it.each<[string, Fault]>([
    ['409 ConditionalRequestConflict', error(409, 'ConditionalRequestConflict')],
    ['400 RequestTimeout', error(400, 'RequestTimeout')],
    ['503 SlowDown', error(503, 'SlowDown')],
    ['500 InternalError', error(500, 'InternalError')],
    ['400 BadDigest', error(400, 'BadDigest')],
    ['400 IncompleteBody', error(400, 'IncompleteBody')],
    ['403 RequestTimeTooSkewed', error(403, 'RequestTimeTooSkewed')],
    ['a reset before it was written', { kind: 'reset', when: 'before' }],
  ])('survives %s once', async (_name, fault) => {
    await start((request, nth) => (ofLogs(request) && nth === 1 ? fault : undefined), { log });
    const { outcomes, error: thrown } = await collector.attempt();
    expect(thrown).toBeUndefined();
    expect(outcomes).toMatchObject([{ outcome: 'archived', key: logKey }]);
    expect((await collector.objects()).get(logKey)?.toString()).toBe(logRecord({ uid: 'a', log }));
    expect(await collector.spooled()).toEqual([]);
  });

  it('whose answer was lost finds it archived, and claims no hash for what it cannot know', async () => {
    await start((request, nth) => (ofLogs(request) && nth === 1 ? { kind: 'reset', when: 'after' } : undefined), {
      log,
    });
    const { outcomes } = await collector.attempt();
    expect(outcomes).toMatchObject([{ outcome: 'already-archived', key: logKey }]);
    expect(outcomes[0]).not.toHaveProperty('sha256');
    expect(await collector.spooled()).toEqual([]);
    expect((await collector.objects()).get(logKey)?.toString()).toBe(logRecord({ uid: 'a', log }));
  });

  it.each<[string, Fault, RegExp]>([
    [
      '403',
      error(403, 'AccessDenied'),
      /failed: 403 AccessDenied.*check the function's role and the policies of the bucket/,
    ],
    [
      'a clock that is wrong for ever',
      error(403, 'RequestTimeTooSkewed'),
      /failed: 403 RequestTimeTooSkewed.*; set the clock of this machine$/,
    ],
    ['400 for ever', error(400, 'InvalidRequest'), /failed: 400 InvalidRequest/],
    ['503 for ever', error(503, 'SlowDown'), /failed: 503 SlowDown/],
    ['409 for ever', error(409, 'ConditionalRequestConflict'), /failed: 409 ConditionalRequestConflict/],
    ['a reset for ever', { kind: 'reset', when: 'before' }, /failed: .*(ECONNRESET|hang up|EPIPE)/],
  ])('fails truthfully after %s', async (_name, fault, reason) => {
    await start((request) => (ofLogs(request) ? fault : undefined), { log });
    const { outcomes, error: thrown } = await collector.attempt();
    expect(outcomes).toMatchObject([{ outcome: 'failed', error: expect.stringMatching(reason) }]);
    expect(outcomes[0]?.error).toMatch(/^PUT s3:\/\/archive\/logs\/cluster=a\//);
    expect(thrown?.message).toContain('1 of 1 not archived');
    expect([...(await collector.objects()).keys()]).toEqual([recordKey]);
    expect(await collector.spooled()).toEqual([]);
  });
});

it('412 means that it is archived already: the object stays as it was, although the service says otherwise now', async () => {
  await start(({ action }) => (action === 'GetObject' ? error(404, 'NoSuchKey') : undefined));
  await collector.attempt();
  const before = (await collector.objects()).get(logKey);
  const { outcomes } = await collector.attempt();
  expect(outcomes).toMatchObject([{ outcome: 'already-archived', key: logKey }]);
  expect((await collector.objects()).get(logKey)).toEqual(before);
  expect(service.requests).toHaveLength(2);
});

describe('the run record', () => {
  it('that cannot be written fails the invocation, whatever was archived', async () => {
    await start(({ action, key }) =>
      action === 'PutObject' && key?.startsWith('runs/') ? error(403, 'AccessDenied') : undefined,
    );
    const { error: thrown } = await collector.attempt();
    expect(thrown?.message).toMatch(/^PUT s3:\/\/archive\/runs\/.* failed: 403 AccessDenied/);
    expect([...(await collector.objects()).keys()]).toEqual([logKey]);
  });

  it('of a large fleet survives 503 SlowDown, and then a reset after it was written', async () => {
    const uids = Array.from({ length: 280 }, (_, index) => `uid-${index}`);
    const state = 's'.repeat(4000);
    const faults: Fault[] = [error(503, 'SlowDown'), { kind: 'reset', when: 'after' }];
    await start(({ key }, nth) => (key === recordKey ? faults[nth - 1] : undefined), { uids, state });
    const { error: thrown, outcomes } = await collector.attempt();
    expect(thrown).toBeUndefined();
    const keys = [...(await collector.objects()).keys()].filter((key) => key.startsWith('runs/'));
    expect(keys).toEqual([recordKey]);
    const record = (await collector.objects()).get(recordKey);
    expect(recordOf(record ?? '').outcomes).toEqual(outcomes);
    expect(calls.filter((call) => call === 'PutObject runs')).toHaveLength(3);
  });
});

describe('the API key', () => {
  const ofSecrets = ({ service: name }: InterceptedRequest) => name === 'secretsmanager';

  it('survives throttling by Secrets Manager', async () => {
    await start((request, nth) => (ofSecrets(request) && nth < 3 ? error(400, 'ThrottlingException') : undefined));
    expect((await collector.attempt()).outcomes).toMatchObject([{ outcome: 'archived' }]);
  });

  it('that has no value yet fails the run with what to do, asks the service nothing, and is recorded', async () => {
    await start(() => undefined, { secret: null });
    const { error: thrown, outcomes } = await collector.attempt();
    const reason = 'it has no value yet, or does not exist; ask the owner of the secret';
    expect(thrown?.message).toContain(reason);
    expect(outcomes).toMatchObject([{ outcome: 'not-attempted', error: expect.stringContaining(reason) }]);
    expect(service.requests).toEqual([]);
    expect([...(await collector.objects()).keys()]).toEqual([recordKey]);
  });

  it.each([`${testKey}\n`, `{"apiKey":"${testKey}","other":1}`])('is read from %j', async (secret) => {
    await start(() => undefined, { secret });
    await collector.attempt();
    expect(service.requests[0]?.headers.apikey).toBe(testKey);
  });
});
