import { firstResources } from '../../../../archive/format/resources';
import { ServiceError } from '../../../../lambda/collect/service/service-error';
import { seededRandom } from '../../../../local/demo-service/seeded-random';
import {
  type SimulatedAttempt,
  type SimulatedService,
  type SimulatedTask,
  simulateAttempt,
  simulatedTask,
  simulateRun,
} from './simulate-run';
import {
  type Behaviour,
  good,
  hanging,
  type Reply,
  refused,
  status,
  trickling,
  unreachable,
} from './simulated-service';

/** Fleets that have starved, hammered or misjudged somebody before, in simulated time. */

const quick: Behaviour = () => good(100);
const hour = 3_600_000;

/** A fleet of clusters that answer alike for both resources; 16 workers. */
function fleet(behaviours: readonly Behaviour[], more: Partial<SimulatedService> = {}): SimulatedService {
  const tasks = behaviours.flatMap((behaviour, index) =>
    firstResources.map((resource) => simulatedTask(`c${index}`, resource, behaviour)),
  );
  return { tasks, concurrency: 16, attemptMs: 855_000, random: seededRandom('cases'), ...more };
}

function times(count: number, behaviour: Behaviour): Behaviour[] {
  return Array.from({ length: count }, () => behaviour);
}

/** The bad ones at the head, in the middle, at the end, and spread evenly. */
function orders(count: number, bad: Behaviour, others: number): [string, Behaviour[]][] {
  const good = times(others, quick);
  const half = Math.floor(others / 2);
  const spread = times(others + count, quick).map((behaviour, index, all) => {
    const before = Math.floor((index * count) / all.length);
    return Math.floor(((index + 1) * count) / all.length) > before ? bad : behaviour;
  });
  return [
    ['at the head', [...times(count, bad), ...good]],
    ['in the middle', [...good.slice(half), ...times(count, bad), ...good.slice(0, half)]],
    ['at the end', [...good, ...times(count, bad)]],
    ['spread', spread],
  ];
}

const isQuick = ({ behaviour }: SimulatedTask) => behaviour === quick;

function lastArchivedMs({ archived, requests, startMs }: SimulatedAttempt): number {
  const own = requests.filter(({ task, inFlight }) => inFlight.kind !== 'health-check' && archived.includes(task));
  const ends = own.map(({ atMs }) => atMs - startMs);
  return Math.max(...ends);
}

/** One attempt in which everything good is archived. */
function expectAllGood(service: SimulatedService): SimulatedAttempt {
  const attempt = simulateAttempt(service, 1000, 1);
  const good = service.tasks.filter(isQuick);
  expect(good.filter(({ isArchived }) => !isArchived)).toEqual([]);
  expect(['done', 'deadline']).toContain(attempt.end);
  return attempt;
}

describe('clusters that do not answer', () => {
  it.each([
    ['25 of 200', 25, hanging, 175, 60_000],
    ['100 of 120', 100, hanging, 20, 180_000],
    ['25 of 200 with bodies that trickle', 25, trickling, 175, 60_000],
    ['six of 120 with a Retry-After of an hour', 6, () => status(429, 30, hour), 114, 75_000],
    ['60 of 120 with a Retry-After of an hour', 60, () => status(429, 30, hour), 60, 240_000],
    ['six of 120 with 503 and a Retry-After of an hour', 6, () => status(503, 30, hour), 114, 3000],
  ])('%s, in any order: every good one is archived in time', (_which, count, bad, others, withinMs) => {
    for (const [, list] of orders(count, bad, others))
      expect(lastArchivedMs(expectAllGood(fleet(list)))).toBeLessThan(withinMs);
  });

  it.each(orders(25, hanging, 175))('25 of 200 for one worker, %s', (_where, list) => {
    expectAllGood(fleet(list, { concurrency: 1 }));
  });

  it.each([
    ['every one of 200', 200, hanging, 300_000],
    ['200 behind a service that nobody can connect to', 200, unreachable, 855_000],
    ['1,000 behind a service that refuses connections', 1000, refused, 855_000],
  ])('%s: each is asked once, and the attempt ends early', (_which, count, down, withinMs) => {
    const attempt = simulateAttempt(fleet(times(count, down)), 1000, 1);
    expect(attempt.end).toMatchObject({ reason: expect.stringContaining('looks down') });
    expect(new Set(attempt.requests.map(({ task }) => task.cluster)).size).toBe(count);
    expect(attempt.endMs).toBeLessThan(withinMs);
  });

  it('are asked for their full time limit, each a second time, once everybody else had a turn', () => {
    const service = fleet([...times(20, () => good(50_000)), ...times(180, quick)]);
    const attempt = simulateAttempt(service, 1000, 1);
    expect(service.tasks.every(({ isArchived }) => isArchived)).toBe(true);
    expect(Math.max(...service.tasks.map(({ requests }) => requests))).toBe(2);
    expect(attempt.mostUnderWay).toBe(16);
  });

  it('are told from a service that answers everybody after 15 seconds', () => {
    const service = fleet(times(100, () => good(15_000)));
    const attempt = simulateAttempt(service, 1000, 1);
    expect(service.tasks.every(({ isArchived }) => isArchived)).toBe(true);
    // The first workers but one give way, once.
    expect(attempt.requests.length).toBeLessThanOrEqual(200 + 15);
    expect(attempt.endMs).toBeLessThan(220_000);
  });
});

describe('a service that is down', () => {
  it('is asked once about each of 300 clusters, in under five seconds', () => {
    const attempts = simulateRun(fleet(times(300, refused)));
    const isDown = { kind: 'end', reason: expect.stringContaining('looks down') };
    expect(attempts.map(({ end }) => end)).toEqual([isDown, isDown, 'deadline']);
    for (const { requests, startMs, endMs } of attempts.slice(0, 2)) {
      expect(requests.length).toBeLessThanOrEqual(320);
      expect(endMs - startMs).toBeLessThan(5000);
    }
    // The last attempt asks a few of them every half minute.
    expect(attempts[2]?.requests.length).toBeLessThan(500);
  });

  it.each([refused(), hanging(), status(503), status(500)])('for ten minutes costs nothing', (down) => {
    const disturbance: SimulatedService['disturbance'] = (reply, nowMs) => (nowMs < 600_000 ? down : reply);
    const service = fleet(times(200, quick), { disturbance });
    simulateRun(service);
    expect(service.tasks.filter(({ isArchived }) => !isArchived)).toEqual([]);
  });

  it('is said to be unreachable where the last failures say so, whatever the first ones said', () => {
    const error = new ServiceError('no such host', 'connection', { lasting: 'no such host' });
    const unreachable = { ...refused(), error };
    const from = 1100;
    const reasonOf = (before: Reply, after: Reply) =>
      simulateAttempt(fleet(times(300, quick), { disturbance: (_, nowMs) => (nowMs < from ? before : after) }), 1000, 1)
        .end;
    const reason = (text: string) => ({ kind: 'end', reason: expect.stringContaining(text) });
    expect(reasonOf(unreachable, refused())).toEqual(reason('the service looks down'));
    expect(reasonOf(refused(), unreachable)).toEqual(reason('the service cannot be reached: no such host'));
  });

  it('is left alone for as long as it asks, by health checks too, of whatever was asked before', () => {
    const clusters = Array.from({ length: 12 }, (_, index) => `c${index}`);
    for (const archived of clusters) {
      const tasks = clusters.map((cluster) => simulatedTask(cluster, 'manifest', () => status(503, 30, 20_000)));
      const log = { ...simulatedTask(archived, 'log', () => status(503, 30, 20_000)), isArchived: true };
      const service = { ...fleet([]), tasks: [log, ...tasks], concurrency: 1 };
      const { requests, tooEarly } = simulateAttempt(service, 1000, 3);
      expect(requests.filter(({ inFlight }) => inFlight.kind === 'health-check').length).toBeGreaterThan(10);
      expect(tooEarly).toBe(0);
    }
  });

  it.each(
    orders(150, () => status(503), 150),
  )('for half of 300 clusters, %s, costs the others nothing', (_where, list) => {
    const attempt = expectAllGood(fleet(list));
    expect(lastArchivedMs(attempt)).toBeLessThan(10_000);
    expect(attempt.endMs).toBeLessThan(20_000);
  });
});

describe('clusters that are leaving', () => {
  /** A fleet, and behind it clusters that are not on the list any more. */
  const withLeaving = (staying: readonly Behaviour[], leaving: readonly Behaviour[]): SimulatedService => {
    const service = fleet([...leaving, ...staying]);
    const tasks = service.tasks.map((task, at) =>
      at < leaving.length * firstResources.length ? { ...task, leaving: true as const } : task,
    );
    return { ...service, tasks };
  };

  it.each([
    ['hang', hanging],
    ['refuse connections', refused],
    ['answer well', quick],
  ])('are asked for last: 100 that %s cost the others nothing', (_how, behaviour) => {
    const attempt = simulateAttempt(withLeaving(times(50, quick), times(100, behaviour)), 1000, 1);
    const last = attempt.requests.findLastIndex(({ task }) => !task.leaving);
    const asked = attempt.requests.slice(0, last).filter(({ task }) => task.leaving);
    expect(asked).toEqual([]);
    expect(['done', 'deadline']).toContain(attempt.end);
    expect(attempt.requests.some(({ task }) => task.leaving)).toBe(true);
  });

  it.each<[string, Behaviour]>([
    ['retries', (nth) => (nth === 1 ? status(503) : good(100))],
    ['second requests after a timeout', (nth) => (nth === 1 ? hanging() : good(100))],
  ])('come behind the %s of the others', (_what, behaviour) => {
    const service = withLeaving(
      times(20, behaviour),
      times(500, () => good(9000)),
    );
    const { requests, startMs } = simulateAttempt(service, 1000, 1);
    const last = requests.findLast(({ task }) => !task.leaving);
    // Those that are leaving take nine minutes.
    expect((last?.atMs ?? 0) - startMs).toBeLessThan(240_000);
    expect(service.tasks.filter(({ leaving, isArchived }) => !leaving && !isArchived)).toEqual([]);
  });

  it.each([
    ['no answer', refused],
    ['503', () => status(503)],
    ['403', () => status(403)],
  ])('do not stand for the service or the key: 40 with %s beside five that do not exist', (_what, behaviour) => {
    const service = withLeaving(
      times(5, () => status(404)),
      times(40, behaviour),
    );
    expect(simulateAttempt(service, 1000, 1).end).toBe('done');
  });

  it.each([
    ['looks down', refused],
    ['rejected the API key', () => status(403)],
  ])('do not hide that the service %s for all others', (reason, behaviour: Behaviour) => {
    // They are answered while the last one of the others waits.
    const late: Behaviour = (nth) => ({ ...behaviour(nth), endMs: 9000 });
    const attempt = simulateAttempt(withLeaving([...times(9, behaviour), late], times(40, quick)), 1000, 1);
    expect(attempt.requests.some(({ task }) => task.leaving)).toBe(true);
    expect(attempt.end).toMatchObject({ reason: expect.stringContaining(reason) });
  });

  it('make nobody give way: a slow cluster keeps its worker', () => {
    const service = withLeaving(
      times(8, () => good(50_000)),
      times(40, quick),
    );
    simulateAttempt(service, 1000, 1);
    expect(Math.max(...service.tasks.filter(({ leaving }) => !leaving).map(({ requests }) => requests))).toBe(1);
  });
});

describe('clusters that joined the list within a day', () => {
  /** A fleet, and among it clusters that somebody added. */
  const withJoined = (known: readonly Behaviour[], joined: readonly Behaviour[]): SimulatedService => {
    const service = fleet([...joined, ...known]);
    const tasks = service.tasks.map((task, at) =>
      at < joined.length * firstResources.length ? { ...task, joined: true as const } : task,
    );
    return { ...service, tasks };
  };
  const known = ({ tasks }: SimulatedService) => tasks.filter(({ joined }) => !joined);

  it.each([
    ['hang', hanging],
    ['answer 404', () => status(404)],
    ['answer 403', () => status(403)],
    ['answer 503', () => status(503)],
    ['answer well, slowly', () => good(9000)],
  ])('take no turn of the others in any attempt: 500 that %s', (_how, behaviour) => {
    const failsFirst: Behaviour = (nth) => (nth === 1 ? status(503) : good(100));
    const service = withJoined([...times(20, quick), ...times(20, failsFirst)], times(500, behaviour));
    const [first] = simulateRun(service);
    expect(known(service).filter(({ isArchived }) => !isArchived)).toEqual([]);
    expect(first?.archived.filter(({ joined }) => !joined)).toHaveLength(80);
    // Who joined is asked for meanwhile.
    expect(first?.requests.filter(({ task }) => task.joined).length).toBeGreaterThan(100);
  });

  it.each([
    ['the key', () => status(403)],
    ['the service', refused],
  ])('do not end an attempt over %s while others wait for their retries', (_what, behaviour: Behaviour) => {
    const late: Behaviour = (nth) => (nth === 1 ? status(503, 30, 20_000) : good(100));
    const service = withJoined([late], times(40, behaviour));
    simulateAttempt(service, 1000, 1);
    expect(known(service).filter(({ isArchived }) => !isArchived)).toEqual([]);
  });

  it('end it when nobody else is left: a key that is rejected is not tried for each of them', () => {
    const attempt = simulateAttempt(withJoined(times(3, quick), times(600, quick)), 1000, 1);
    expect(attempt.end).toBe('done');
    const rejected = withJoined(
      times(3, () => status(401)),
      times(600, () => status(401)),
    );
    const { end, requests } = simulateAttempt(rejected, 1000, 1);
    expect(end).toMatchObject({ reason: expect.stringContaining('rejected the API key') });
    expect(requests.length).toBeLessThan(60);
  });

  it('make nobody give way: a slow cluster keeps its worker', () => {
    const service = withJoined(
      times(8, () => good(50_000)),
      times(400, quick),
    );
    simulateAttempt(service, 1000, 1);
    expect(Math.max(...known(service).map(({ requests }) => requests))).toBe(1);
  });

  it('show that the service is up, although two others fail', () => {
    const service = withJoined(
      times(2, () => status(500)),
      times(40, quick),
    );
    expect(simulateAttempt(service, 1000, 1).end).toBe('done');
    expect(service.tasks.filter(({ joined, isArchived }) => joined && !isArchived)).toEqual([]);
  });

  it('are asked for by probes behind the others too, while the service is down', () => {
    const service = withJoined(times(200, refused), times(200, refused));
    const { requests } = simulateAttempt(service, 1000, 1);
    const firstJoined = requests.findIndex(({ task }) => task.joined);
    const before = new Set(requests.slice(0, firstJoined).map(({ task }) => task.cluster));
    expect(before.size).toBe(200);
  });

  it('are asked for before what timed out', () => {
    const service = withJoined(times(40, hanging), times(10, quick));
    const [first] = simulateRun(service);
    expect(first?.archived.filter(({ joined }) => joined)).toHaveLength(20);
  });
});

it('a service that answers for one of two archived clusters is not down', () => {
  let asked = 0;
  const goesBad: Behaviour = () => {
    asked += 1;
    return asked <= 2 ? good(100) : status(503);
  };
  const attempts = simulateRun(fleet([...times(40, () => status(503)), quick, goesBad]));
  expect(attempts.map(({ end }) => end)).toEqual(['done', 'done', 'done']);
});

describe('clusters that the key may not read', () => {
  it.each(orders(8, () => status(403), 32))('eight of 40, %s, do not stand for the key', (_where, list) => {
    expectAllGood(fleet(list));
  });

  it('five of 60 that are left for the second attempt do not stand for the key', () => {
    const list = times(60, quick).map((behaviour, index) => (index % 12 === 0 ? () => status(403) : behaviour));
    const attempts = simulateRun(fleet(list));
    expect(attempts.map(({ end }) => end)).toEqual(['done', 'done', 'done']);
  });

  it('six of eight that are all asked at once do not stand for the key', () => {
    const service = fleet([...times(6, () => status(403)), ...times(2, () => good(3000))]);
    expect(simulateAttempt(service, 1000, 1).end).toBe('done');
    expect(service.tasks.filter(({ isArchived }) => isArchived)).toHaveLength(4);
  });

  it('all of 600: the key is rejected after ten in a row, with the key read again', () => {
    const attempt = simulateAttempt(fleet(times(600, () => status(401))), 1000, 1);
    expect(attempt.end).toMatchObject({ reason: expect.stringContaining('rejected the API key') });
    expect(attempt.requests.length).toBeLessThanOrEqual(2 * 10 + 16);
    expect(attempt.keyReadings).toBeGreaterThan(1);
  });

  it('while the key is rotated, none is lost', () => {
    const keys: SimulatedService['keys'] = {
      secret: (nowMs) => (nowMs >= 1300 ? 'new' : 'old'),
      isValid: (key, nowMs) => key === (nowMs >= 1300 ? 'new' : 'old'),
    };
    // One cluster's own rejection has the key read again just before the rotation.
    const service = fleet([() => status(403), ...times(40, quick)], { keys });
    simulateAttempt(service, 1000, 1);
    expect(service.tasks.filter((task) => isQuick(task) && !task.isArchived)).toEqual([]);
  });
});

it('a Retry-After from a service that is down is kept to by the last attempt, which goes on asking', () => {
  const service = fleet(times(30, () => status(503, 30, 200_000)));
  const { requests } = simulateAttempt(service, 1000, 3);
  for (const task of service.tasks) {
    const own = requests.filter((request) => request.task === task).map(({ atMs }) => atMs);
    for (const [index, atMs] of own.slice(1).entries())
      expect(atMs - (own[index] ?? 0)).toBeGreaterThanOrEqual(200_000);
  }
  expect(requests.length).toBeGreaterThan(60);
});
