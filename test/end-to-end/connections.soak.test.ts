import { summaryOf, useBundle } from '../support/bundled-collector';
import { ok, status } from '../support/fault-service-answers';
import { logRecord } from '../support/fault-service-bodies';

/** A warm function is frozen between its runs: what it leaves open, the service keeps open. */

let fails: boolean;
const bundle = useBundle(({ uid = '' }) => (fails ? status(404) : ok(logRecord({ uid }))));

it.each([
  ['archives everything', false],
  ['fails', true],
])('an invocation that %s leaves no connection to the service behind', async (_what, isToFail) => {
  fails = isToFail;
  const clusters = ['a', 'b', 'c'].map((uid) => ({ uid, resources: ['log' as const] }));
  const { service } = bundle;
  const asked = service.requests.length;
  const process = await (await bundle.start({ collection: { clusters } })).startProcess();
  const outcome = await process.invoke({});
  if (fails) expect(outcome).toMatchObject({ error: { errorType: 'RunIncompleteError' } });
  else expect(summaryOf(outcome).status).toBe('complete');
  expect(service.requests).toHaveLength(asked + 3);
  // The service itself never ends one.
  await Promise.all(service.requests.map(({ gone }) => gone));
  expect(service.connections).toBe(new Set(service.requests.map(({ connection }) => connection)).size);
  // Nor did the function's process end, which would end them too.
  expect(await process.invoke({ unknown: true })).toMatchObject({ error: { errorType: 'InvalidEventError' } });
});
