import type { Resource } from '../../../../archive/format/resources';
import { Dispatcher, type EarlyEnd } from '../../../../lambda/collect/dispatch/dispatcher';
import type { InFlightRequest } from '../../../../lambda/collect/dispatch/in-flight-request';
import { type KeyReading, longestSharedPauseMs } from '../../../../lambda/collect/dispatch/retry';
import type { ServiceError } from '../../../../lambda/collect/service/service-error';
import { asynchronousRetryWaits } from '../../../../lambda/time-limits';
import type { Random } from '../../../../local/demo-service/seeded-random';
import {
  type Behaviour,
  type Disturbance,
  type Keys,
  limits,
  type Reply,
  status,
  steadyKeys,
} from './simulated-service';

/** A cluster x resource of a simulated fleet, and what has become of it so far. */
export interface SimulatedTask {
  readonly cluster: string;
  readonly resource: Resource;
  readonly behaviour: Behaviour;
  /** Whether its cluster joined the list within a day. */
  readonly joined?: true;
  /** Whether its cluster is not on the list any more. */
  readonly leaving?: true;
  requests: number;
  isArchived: boolean;
  /** Whether it failed in an earlier attempt, or was at least asked for. */
  hasFailed: boolean;
}

/** One that nobody has asked for yet. */
export function simulatedTask(cluster: string, resource: Resource, behaviour: Behaviour): SimulatedTask {
  return { cluster, resource, behaviour, requests: 0, isArchived: false, hasFailed: false };
}

export interface SimulatedService {
  readonly tasks: readonly SimulatedTask[];
  /** Decides the order in which tasks are asked for; left out: the same for all. */
  readonly seed?: string;
  readonly concurrency: number;
  readonly disturbance?: Disturbance;
  readonly keys?: Keys;
  /** Time an attempt has. */
  readonly attemptMs: number;
  readonly random: Random;
}

/** What one attempt came to. */
export interface SimulatedAttempt {
  readonly end: 'done' | 'deadline' | EarlyEnd;
  readonly startMs: number;
  readonly endMs: number;
  /** Requests in their order, health checks included. */
  readonly requests: readonly {
    readonly atMs: number;
    readonly inFlight: InFlightRequest;
    readonly task: SimulatedTask;
  }[];
  readonly mostUnderWay: number;
  readonly archived: readonly SimulatedTask[];
  /** Clusters that failed since the service last answered, health checks left out. */
  readonly unansweredInRow: number;
  /** Keys with which something was answered well. */
  readonly workingKeys: ReadonlySet<string>;
  readonly lastKey: string;
  readonly keyReadings: number;
  /** Requests for a cluster before the time that a 503 has named with Retry-After. */
  readonly tooEarly: number;
}

interface Event {
  readonly atMs: number;
  readonly happen: () => void;
  isOff?: boolean;
}

/** How long a put, and a reading of the secret, take. */
const archivingMs = 15;
const readingMs = 20;

/**
 * Lets a dispatcher work on a simulated fleet: the time jumps from event to event.
 * @param attempt its number, from 1
 */
export function simulateAttempt(service: SimulatedService, startMs: number, attempt: number): SimulatedAttempt {
  const { concurrency, disturbance, keys = steadyKeys, attemptMs, random } = service;
  const missing = service.tasks.filter(({ isArchived }) => !isArchived);
  const byName = new Map(service.tasks.map((task) => [`${task.resource}/${task.cluster}`, task]));
  const taskOf = ({ request }: InFlightRequest) =>
    byName.get(`${request.resource}/${request.cluster}`) as SimulatedTask;
  const deadlineMs = startMs + attemptMs;
  const dispatcher = new Dispatcher(missing, {
    seed: service.seed ?? 'a run',
    concurrency,
    responseMs: limits.responseMs,
    deadlineMs,
    endsEarly: attempt < 3,
    archived: service.tasks.filter(({ isArchived }) => isArchived),
    hasFailedEarlier: ({ cluster, resource }) => byName.get(`${resource}/${cluster}`)?.hasFailed === true,
    random,
  });

  let nowMs = startMs;
  let end: SimulatedAttempt['end'] | undefined;
  let mostUnderWay = 0;
  let keyReadings = 1;
  let key = keys.secret(nowMs);
  const events: Event[] = [];
  const held = new Set<InFlightRequest>();
  const requests: { atMs: number; inFlight: InFlightRequest; task: SimulatedTask }[] = [];
  const archived: SimulatedTask[] = [];
  const unanswered = new Set<string>();
  let unansweredInRow = 0;
  const workingKeys = new Set<string>();
  /** Until when the service has asked to be left alone, with 503, for each cluster. */
  const pausedUntilMs = new Map<string, number>();
  let tooEarly = 0;

  const at = (ms: number, happen: () => void): Event => {
    const event = { atMs: ms, happen };
    if (ms <= deadlineMs) events.push(event);
    return event;
  };

  const fail = (inFlight: InFlightRequest, error: Error, sent: string) => {
    const task = taskOf(inFlight);
    const failure = error as Partial<ServiceError>;
    const isAnswer = failure.status === undefined ? inFlight.headMs !== undefined : failure.status < 500;
    if (failure.status === 503 && failure.retryAfterMs !== undefined)
      pausedUntilMs.set(task.cluster, nowMs + Math.min(failure.retryAfterMs, longestSharedPauseMs));
    const conclude = (reading?: KeyReading) => {
      held.delete(inFlight);
      if (isAnswer) unanswered.clear();
      else if (inFlight.kind !== 'health-check') unanswered.add(task.cluster);
      if (inFlight.kind === 'health-check') dispatcher.checkFailed(inFlight, error, nowMs);
      else if (dispatcher.failed(inFlight, error, nowMs, reading) !== undefined) task.hasFailed = true;
    };
    if (inFlight.kind === 'health-check' || !failure.rejected) return conclude();
    inFlight.isAnswered = true;
    if (key !== sent) return conclude('changed');
    keyReadings += 1;
    const read = keys.secret(nowMs);
    at(nowMs + readingMs, () => {
      const isOther = !(read instanceof Error) && read !== sent;
      if (isOther) key = read;
      conclude(read instanceof Error ? read : isOther ? 'changed' : 'same');
    });
  };

  const succeed = (inFlight: InFlightRequest, sent: string) => {
    unanswered.clear();
    workingKeys.add(sent);
    dispatcher.answered(inFlight, nowMs);
    const task = taskOf(inFlight);
    const isCheck = inFlight.kind === 'health-check';
    at(nowMs + (isCheck ? 0 : archivingMs), () => {
      held.delete(inFlight);
      if (!isCheck) {
        task.isArchived = true;
        archived.push(task);
      }
      dispatcher.ended(inFlight);
    });
  };

  const ask = (inFlight: InFlightRequest) => {
    const task = taskOf(inFlight);
    const sent = String(key);
    requests.push({ atMs: nowMs, inFlight, task });
    if (nowMs < (pausedUntilMs.get(task.cluster) ?? 0)) tooEarly += 1;
    const isCheck = inFlight.kind === 'health-check';
    if (!isCheck) task.requests += 1;
    if (!isCheck && [...held].some((other) => other.kind !== 'health-check' && other.task === inFlight.task))
      throw new Error(`${task.cluster} is asked twice at once`);
    held.add(inFlight);
    mostUnderWay = Math.max(mostUnderWay, held.size);
    const reply = replyTo(task, sent);
    const beganMs = nowMs;
    const over = at(beganMs + reply.endMs, () =>
      reply.error ? fail(inFlight, reply.error, sent) : succeed(inFlight, sent),
    );
    const head = at(beganMs + reply.headMs, () => {
      const received = () => ((nowMs - beganMs - reply.headMs) / 1000) * reply.bytesPerSecond;
      inFlight.head(received, nowMs);
      if (!isCheck || reply.status !== 200) return;
      over.isOff = true;
      succeed(inFlight, sent);
    });
    inFlight.signal.addEventListener('abort', () => {
      if (over.isOff) return;
      over.isOff = true;
      head.isOff = true;
      at(nowMs, () => fail(inFlight, inFlight.signal.reason, sent));
    });
  };

  const replyTo = (task: SimulatedTask, sent: string): Reply => {
    const reply = keys.isValid(sent, nowMs) ? task.behaviour(task.requests) : status(401);
    return disturbance?.(reply, nowMs) ?? reply;
  };

  let wake: Event | undefined;
  const dispatch = () => {
    if (wake !== undefined) wake.isOff = true;
    // More decisions than requests could ever begin or end at once: it goes round in circles.
    for (let decisions = 0; decisions < 4 * concurrency + 10; decisions += 1) {
      const decision = dispatcher.next(nowMs);
      if (decision.kind === 'ask') ask(decision.inFlight);
      else if (decision.kind === 'wait') {
        if (decision.untilMs < Number.POSITIVE_INFINITY) wake = at(Math.max(nowMs, decision.untilMs), () => undefined);
        return;
      } else {
        end = decision.kind === 'done' ? 'done' : decision;
        unansweredInRow = unanswered.size;
        return;
      }
    }
    throw new Error(`the dispatcher goes round in circles at ${nowMs}`);
  };

  // After an early end, what is under way finishes.
  const isOver = () => end === 'done' || (end !== undefined && held.size === 0);
  for (let sameTime = 0; !isOver(); ) {
    if (end === undefined) dispatch();
    if (isOver()) break;
    let next: Event | undefined;
    for (const event of events) if (!event.isOff && (next === undefined || event.atMs < next.atMs)) next = event;
    if (next === undefined) {
      nowMs = deadlineMs;
      end ??= 'deadline';
      break;
    }
    sameTime = next.atMs === nowMs ? sameTime + 1 : 0;
    if (sameTime > 10_000) throw new Error(`time stands still at ${nowMs}`);
    nowMs = next.atMs;
    next.isOff = true;
    next.happen();
    if (events.length > 256) events.splice(0, events.length, ...events.filter(({ isOff }) => !isOff));
  }
  // What is being archived is finished, whatever ends the attempt.
  for (const inFlight of held)
    if (inFlight.isAnswered && inFlight.kind !== 'health-check') {
      taskOf(inFlight).isArchived = true;
      archived.push(taskOf(inFlight));
    }
  for (const task of missing) if (!task.isArchived && requests.some((one) => one.task === task)) task.hasFailed = true;
  return {
    end: end ?? 'deadline',
    startMs,
    endMs: nowMs,
    requests,
    mostUnderWay,
    archived,
    unansweredInRow,
    workingKeys,
    lastKey: String(key),
    keyReadings,
    tooEarly,
  };
}

/** Attempts a run as Lambda does, three times at most. */
export function simulateRun(service: SimulatedService): SimulatedAttempt[] {
  const attempts: SimulatedAttempt[] = [];
  let startMs = 1000;
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const result = simulateAttempt(service, startMs, attempt);
    attempts.push(result);
    if (service.tasks.every(({ isArchived }) => isArchived)) break;
    startMs = result.endMs + (asynchronousRetryWaits[attempt - 1] ?? 0) * 1000;
  }
  return attempts;
}
