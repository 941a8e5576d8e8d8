import { firstResources } from '../../../../archive/format/resources';
import { maxRequests } from '../../../../lambda/collect/dispatch/retry';
import { between, pick, type Random, seededRandom } from '../../../../local/demo-service/seeded-random';
import { type SimulatedService, type SimulatedTask, simulatedTask } from './simulate-run';
import type { Behaviour, Disturbance, Keys } from './simulated-service';
import * as service from './simulated-service';

/** A behaviour with what the assertions have to know of it. */
interface Kind {
  readonly behaviour: (random: Random) => Behaviour;
  /** Whether it can be archived. */
  readonly isGood: boolean;
  /** Longest time, in milliseconds, for which it holds a worker until every other good one had its turn. */
  readonly costMs: number;
}

/** Fails some times, and is answered well from then on. */
function afterFailures(failures: readonly [service.Reply, ...service.Reply[]]): Kind['behaviour'] {
  return (random) => {
    const replies = Array.from({ length: between(random, 1, 3) }, () => pick(random, failures));
    return (nth) => replies[nth - 1] ?? service.good(40);
  };
}

const { good, status } = service;
const hour = 3_600_000;

const kinds = {
  quick: { behaviour: (random) => always(good(between(random, 5, 200))), isGood: true, costMs: 250 },
  slow: { behaviour: (random) => always(good(between(random, 2_000, 25_000))), isGood: true, costMs: 60_000 },
  long: { behaviour: (random) => always(good(50, between(random, 5_000, 60_000))), isGood: true, costMs: 61_000 },
  flapping: {
    behaviour: afterFailures([status(500), status(502), service.reset(), service.cut(), service.refused()]),
    isGood: true,
    costMs: 1000,
  },
  busy: {
    behaviour: afterFailures([status(429), status(429, 30, 1000), status(503, 30, 2000), status(408)]),
    isGood: true,
    costMs: 1000,
  },
  hesitant: { behaviour: afterFailures([service.hanging(), service.unreachable()]), isGood: true, costMs: 135_000 },
  mislabelled: { behaviour: () => (nth) => (nth === 1 ? service.notDecodable() : good(40)), isGood: true, costMs: 250 },
  refused: { behaviour: () => always(service.refused()), isGood: false, costMs: 100 },
  reset: { behaviour: () => always(service.reset()), isGood: false, costMs: 300 },
  unreachable: { behaviour: () => always(service.unreachable()), isGood: false, costMs: 75_000 },
  hanging: { behaviour: () => always(service.hanging()), isGood: false, costMs: 75_000 },
  trickling: { behaviour: () => always(service.trickling()), isGood: false, costMs: 75_000 },
  untrusted: { behaviour: () => always(service.untrusted()), isGood: false, costMs: 100 },
  failing: { behaviour: () => always(status(503)), isGood: false, costMs: 300 },
  forbidden: { behaviour: (random) => always(status(pick(random, [401, 403]))), isGood: false, costMs: 300 },
  absent: { behaviour: () => always(status(404)), isGood: false, costMs: 100 },
  wrong: { behaviour: () => always(service.invalid()), isGood: false, costMs: 100 },
  closed: { behaviour: () => always(status(503, 30, hour)), isGood: false, costMs: 300 },
  throttled: { behaviour: () => always(status(429, 30, hour)), isGood: false, costMs: 300 },
} as const satisfies Record<string, Kind>;

type KindName = keyof typeof kinds;

const goodKinds = ['quick', 'quick', 'quick', 'slow', 'long', 'flapping', 'busy', 'hesitant', 'mislabelled'] as const;
const badKinds = [
  'refused',
  'reset',
  'unreachable',
  'hanging',
  'trickling',
  'untrusted',
  'failing',
  'forbidden',
  'absent',
  'wrong',
  'closed',
  'throttled',
] as const satisfies readonly KindName[];

function always(reply: service.Reply): Behaviour {
  return () => reply;
}

export interface RandomFleet {
  readonly service: SimulatedService;
  readonly good: ReadonlySet<SimulatedTask>;
  /** Whether the whole service is disturbed for some time, or its keys change. */
  readonly isDisturbed: boolean;
  /** Whether it comes and goes, so that requests may fail for ever by bad luck. */
  readonly isFlapping: boolean;
  /** Whether the key of the secret is rejected for ever. */
  readonly isKeyWrong: boolean;
  /** When the service is well for good. */
  readonly wellFromMs: number;
  /** Time that all good ones need to be archived in one attempt, generously. */
  readonly neededMs: number;
  /** In words, for whoever reads a failure. */
  readonly description: string;
}

/** A fleet of some size, its clusters of some kinds in some order, with a service that may be down or slow for a while. */
export function randomFleet(seed: string): RandomFleet {
  const random = seededRandom(seed);
  const count = pick(random, [1, 2, 3, between(random, 4, 12), between(random, 4, 60), between(random, 40, 300)]);
  const concurrency = pick(random, [1, 2, 4, 16, 16, 16, 64]);
  const names = chooseKinds(random, count);
  const good = new Set<SimulatedTask>();
  let heldMs = 0;
  const isMixed = random() < 0.2;
  const tasks = names.flatMap((name, index) =>
    firstResources.map((resource) => {
      const chosen = isMixed ? pick(random, [name, 'quick', 'failing'] as const) : name;
      const { behaviour, isGood, costMs }: Kind = kinds[chosen];
      const task = simulatedTask(`c${index}`, resource, behaviour(random));
      if (isGood) good.add(task);
      heldMs += costMs;
      return task;
    }),
  );
  const { what, disturbance, wellFromMs } = chooseDisturbance(random);
  const { keys, isKeyWrong } = chooseKeys(random);
  // After throttled answers all requests are spaced, by a second at most; and where many answers ask for an hour, the run
  // makes pauses of a minute.
  const throttled = names.filter((name) => name === 'throttled').length;
  const isThrottled = throttled > 0 || names.includes('busy');
  const spacedMs = isThrottled ? tasks.length * maxRequests * 1000 + 150_000 : 0;
  const pausesMs = throttled > count / 4 ? Number.POSITIVE_INFINITY : 20_000;
  return {
    service: {
      tasks,
      concurrency,
      disturbance,
      keys,
      attemptMs: pick(random, [855_000, 855_000, 855_000, 60_000]),
      random,
    },
    good,
    isDisturbed: wellFromMs > 0 || keys !== service.steadyKeys,
    isFlapping: what === 'flapping',
    isKeyWrong,
    wellFromMs,
    neededMs: heldMs / concurrency + spacedMs + pausesMs + 75_000,
    description: `${count} clusters, ${concurrency} workers, ${[...new Set(names)].join(' ')}, ${what} until ${wellFromMs} ms`,
  };
}

/** One kind per cluster: one or more good ones, and bad ones spread, at the beginning or at the end. */
function chooseKinds(random: Random, count: number): KindName[] {
  const someGood = Array.from({ length: between(random, 1, 2) }, () => pick(random, goodKinds)) as [KindName];
  const someBad = Array.from({ length: between(random, 1, 3) }, () => pick(random, badKinds)) as [KindName];
  const bad = Math.round(count * pick(random, [0, 0.05, 0.2, 0.5, 0.8, 0.95, 1]));
  const names = Array.from({ length: count }, (_, index) => pick(random, index < bad ? someBad : someGood));
  const order = pick(random, ['bad first', 'bad last', 'spread', 'spread']);
  if (order === 'bad last') names.reverse();
  if (order === 'spread')
    for (let i = names.length - 1; i > 0; i -= 1) {
      const other = between(random, 0, i);
      [names[i], names[other]] = [names[other] as KindName, names[i] as KindName];
    }
  return names;
}

function chooseDisturbance(random: Random): { what: string; disturbance: Disturbance; wellFromMs: number } {
  const what = pick(random, ['none', 'none', 'none', 'none', 'outage', 'flapping', 'slow']);
  if (what === 'none') return { what, disturbance: (reply) => reply, wellFromMs: 0 };
  if (what === 'slow') {
    const latencyMs = between(random, 5_000, 30_000);
    const wellFromMs = between(random, 10_000, 600_000);
    const late = (reply: service.Reply) => ({
      ...reply,
      headMs: reply.headMs + latencyMs,
      endMs: reply.endMs + latencyMs,
    });
    return { what, disturbance: (reply, nowMs) => (nowMs < wellFromMs ? late(reply) : reply), wellFromMs };
  }
  const down = pick(random, [
    service.refused(),
    service.hanging(),
    status(503),
    status(500),
    service.reset(),
    status(503, 30, 20_000),
  ]);
  const fromMs = pick(random, [0, between(random, 1000, 20_000)]);
  const wellFromMs = fromMs + between(random, 500, 600_000);
  const periodMs = what === 'outage' ? Number.POSITIVE_INFINITY : between(random, 500, 20_000);
  const isDown = (nowMs: number) =>
    nowMs >= fromMs && nowMs < wellFromMs && Math.floor((nowMs - fromMs) / periodMs) % 2 === 0;
  return { what, disturbance: (reply, nowMs) => (isDown(nowMs) ? down : reply), wellFromMs };
}

function chooseKeys(random: Random): { keys: Keys; isKeyWrong: boolean } {
  const what = random() < 0.75 ? 'steady' : pick(random, ['rotated', 'rotated', 'unreadable', 'wrong']);
  if (what === 'steady') return { keys: service.steadyKeys, isKeyWrong: false };
  if (what === 'wrong') return { keys: { secret: () => 'wrong', isValid: () => false }, isKeyWrong: true };
  const rotatedMs = 1000 + between(random, 0, 5_000);
  const keys: Keys = {
    secret: (nowMs) => {
      if (what === 'unreadable' && nowMs > 1000 && nowMs < rotatedMs) return new Error('ThrottlingException');
      return what === 'rotated' && nowMs >= rotatedMs ? 'new' : 'old';
    },
    isValid: (key, nowMs) => (what === 'rotated' && nowMs >= rotatedMs ? key === 'new' : key === 'old'),
  };
  return { keys, isKeyWrong: false };
}
