import { CollectorBundle, summaryOf } from '../support/bundled-collector';
import { startFaultService } from '../support/fault-service';
import { ok, status } from '../support/fault-service-answers';
import { logRecord } from '../support/fault-service-bodies';

/** A warm function is frozen between its runs: what it leaves open, the service keeps open. */

it.each([
  ['archives everything', false],
  ['fails', true],
])('an invocation that %s leaves no connection to the service behind', async (_what, fails) => {
  const bundle = await CollectorBundle.build();
  const service = await startFaultService(({ uid = '' }) => (fails ? status(404) : ok(logRecord({ uid }))));
  const clusters = ['a', 'b', 'c'].map((uid) => ({ uid, resources: ['log' as const] }));
  const baseUrl = service.url;
  const collector = await bundle.start({
    collection: { service: { baseUrl, collection: 'platformclusters' }, clusters },
  });
  try {
    const process = await collector.startProcess();
    const outcome = await process.invoke({});
    if (fails) expect(outcome).toMatchObject({ error: { errorType: 'RunIncompleteError' } });
    else expect(summaryOf(outcome).status).toBe('complete');
    expect(service.requests).toHaveLength(3);
    // The service itself never ends one.
    await Promise.all(service.requests.map(({ gone }) => gone));
    expect(service.connections).toBe(new Set(service.requests.map(({ connection }) => connection)).size);
    // Nor did the function's process end, which would end them too.
    expect(await process.invoke({ unknown: true })).toMatchObject({ error: { errorType: 'InvalidEventError' } });
  } finally {
    await collector.close();
    await service.close();
    await bundle.remove();
  }
});
