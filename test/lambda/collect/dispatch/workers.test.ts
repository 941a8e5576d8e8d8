import { HealthCheck, type InFlightRequest } from '../../../../lambda/collect/dispatch/in-flight-request';
import { Workers } from '../../../../lambda/collect/dispatch/workers';

function requestAt(startedMs: number): InFlightRequest {
  return new HealthCheck({ cluster: 'a', resource: 'log' }, startedMs);
}

const nobody = () => undefined;

/** Workers of which one request has been left alone already. */
function workersOf(count: number, fullMs = 60_000): Workers {
  const workers = new Workers(count, fullMs);
  const first = requestAt(-fullMs);
  workers.hold(first);
  workers.endOverdue(0, nobody);
  workers.free(first);
  return workers;
}

describe('the workers', () => {
  it('are given to others after ten seconds without an answer', () => {
    const workers = workersOf(1);
    const inFlight = requestAt(0);
    workers.hold(inFlight);
    expect(workers.nextOverdueMs).toBe(10_000);
    workers.endOverdue(9999, nobody);
    expect(inFlight.signal.aborted).toBe(false);
    workers.endOverdue(10_000, nobody);
    expect(inFlight.signal.reason).toMatchObject({
      failure: 'timeout',
      message: 'GET features/logFetcher of cluster a failed: no answer in 10 s while others waited',
    });
    expect(workers.nextOverdueMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('are left to one overdue request in sixteen', () => {
    const workers = new Workers(40, 60_000);
    const all = Array.from({ length: 40 }, () => requestAt(0));
    for (const inFlight of all) workers.hold(inFlight);
    const left: InFlightRequest[] = [];
    workers.endOverdue(10_000, (inFlight) => left.push(inFlight));
    expect(left).toEqual([all[0], all[16], all[32]]);
    expect(all.filter(({ signal }) => !signal.aborted)).toEqual(left);
  });

  it('are kept by a body that makes progress, and given away by one that trickles', () => {
    const workers = workersOf(1);
    const inFlight = requestAt(0);
    workers.hold(inFlight);
    let received = 0;
    inFlight.head(() => received, 100);
    received = 16 * 1024;
    workers.endOverdue(10_000, nobody);
    expect(workers.nextOverdueMs).toBe(20_000);
    received += 16 * 1024 - 1;
    workers.endOverdue(20_000, nobody);
    expect(inFlight.signal.reason.message).toContain('less than 16384 bytes of its body in 10 s while others waited');
  });

  it('are kept while an answer is archived', () => {
    const workers = workersOf(1);
    const inFlight = requestAt(0);
    workers.hold(inFlight);
    workers.answered(inFlight, 50);
    workers.endOverdue(1_000_000, nobody);
    expect(inFlight.signal.aborted).toBe(false);
    expect(workers.nextOverdueMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('are never kept for longer than the time limit of an answer', () => {
    const workers = workersOf(1, 5_000);
    const inFlight = requestAt(0);
    workers.hold(inFlight);
    workers.endOverdue(5_000, nobody);
    expect(inFlight.signal.aborted).toBe(true);
  });
});
