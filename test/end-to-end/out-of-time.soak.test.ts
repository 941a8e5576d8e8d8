import { deadlineReserveSeconds } from '../../lambda/time-limits';
import { type InterceptedRequest, injectFaults } from '../support/aws-faults';
import { type Answer, type FaultService, startFaultService } from '../support/fault-service';
import { ok, silence } from '../support/fault-service-answers';
import { logRecord } from '../support/fault-service-bodies';
import { FunctionProcess } from './function-process';
import { LocalCollector } from './local-collector';

/** Whatever keeps silent, the real bundle ends before its time limit, leaves its record, and the retry completes the run. */

const run = '2026-11-20T10:00:00.000Z';
const uids = Array.from({ length: 6 }, (_, i) => `cluster-${i}`);
const never = new Promise<never>(() => undefined);

let answer: (uid: string) => Answer;
let service: FaultService;
let collector: LocalCollector;

beforeAll(async () => {
  service = await startFaultService(({ uid = '' }) => answer(uid));
  collector = await new LocalCollector({
    service: { baseUrl: service.url },
    clusters: uids.map((uid) => ({ uid, resources: ['log'] })),
    limits: { concurrency: 4 },
  }).start();
});
afterAll(async () => {
  await collector.close();
  await service.close();
});

const good = (uid: string) => ok(logRecord({ uid }));

it.each<[string, (uid: string) => Answer, (request: InterceptedRequest) => boolean, object]>([
  ['the service', () => silence(), () => false, { failed: 4, notAttempted: 2 }],
  ['Secrets Manager', good, ({ action }) => action === 'GetSecretValue', { failed: 0, notAttempted: 6 }],
  ['S3, asked to write objects,', good, ({ key }) => key?.startsWith('logs/') === true, { failed: 4, notAttempted: 2 }],
])('%s keeps silent', async (_who, answers, isSilent, counts) => {
  let recovered = false;
  answer = answers;
  const deployed = await collector.deploy({
    around: injectFaults((request) => (isSilent(request) && !recovered ? never : undefined)),
  });
  const process = await FunctionProcess.start(deployed, { timeoutSeconds: deadlineReserveSeconds + 4 });
  const outcome = await process.invoke({ scheduledTime: run });
  expect(outcome).toMatchObject({ error: { errorType: 'RunIncompleteError' } });
  expect(await deployed.records()).toMatchObject([
    {
      status: 'incomplete',
      stopped: "the function's time limit is near; the next attempt completes the run",
      counts,
    },
  ]);

  recovered = true;
  answer = good;
  // The same process, warm: nothing of the attempt before is in its way.
  expect(await process.collect(run)).toMatchObject({ attempt: 2, status: 'complete' });
  expect((await deployed.keys()).filter((key) => key.startsWith('logs/'))).toHaveLength(uids.length);
  await process.kill();
});
