import type { ResourceRequest } from '../service/resource-request';
import { ServiceError } from '../service/service-error';
import { CircuitBreaker } from './circuit-breaker';
import { FairQueue } from './fair-queue';
import { type HealthCheck, type InFlightRequest, TaskRequest } from './in-flight-request';
import { KeyJudgement } from './key-judgement';
import { afterFailure, type KeyReading, retryDelayMs } from './retry';
import { type Rank, ranks, shuffledTasks, type Task } from './task';
import { Throttle } from './throttle';
import { Workers } from './workers';

export interface DispatchOptions {
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly requestsPerSecond?: number | undefined;
  /** Time limit of an answer, in milliseconds. */
  readonly responseMs: number;
  /** When the attempt has to be over, on the same clock as every `nowMs`. */
  readonly deadlineMs: number;
  /** Whether the attempt ends early while the service is down, because another one follows within minutes. */
  readonly endsEarly: boolean;
  /** Names the run: the order in which its tasks are asked for follows from it. */
  readonly seed: string;
  /** What earlier attempts of the run have archived. */
  readonly archived: readonly ResourceRequest[];
  readonly hasFailedEarlier: (request: ResourceRequest) => boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Nothing more is to be asked in this attempt. What is under way may finish. */
export interface EarlyEnd {
  readonly kind: 'end';
  readonly reason: string;
}

/** What the driver has to do now. */
export type Decision =
  | { readonly kind: 'ask'; readonly inFlight: InFlightRequest }
  /** Wait until that time or until a request ends. Infinity: until a request ends. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  | EarlyEnd
  | { readonly kind: 'done' };

/**
 * Decides who is asked next, how long a request may take, and when an attempt gives up. It makes no request and has no
 * clock: a driver does what {@link next} says and reports what came of it.
 */
export class Dispatcher {
  /** In the order in which they are asked for. */
  readonly tasks: readonly Task[];
  readonly #options: DispatchOptions;
  /** Tasks that are not over, of each cluster that has any and is not leaving. */
  readonly #unfinished = new Map<string, number>();
  /** Tasks that are not over of clusters that are leaving, and of those that neither are nor joined within a day. */
  #unfinishedLeaving = 0;
  #unfinishedKnown = 0;
  /** Clusters that something was asked for. */
  readonly #asked = new Set<string>();
  /** Tasks before this index are of clusters that something was asked for. */
  #askedTo = 0;
  readonly #queue = new FairQueue();
  readonly #breaker: CircuitBreaker;
  readonly #key: KeyJudgement;
  readonly #throttle: Throttle;
  readonly #workers: Workers;

  constructor(requests: readonly ResourceRequest[], options: DispatchOptions) {
    const { seed, archived, hasFailedEarlier, random } = options;
    this.#options = options;
    this.#throttle = new Throttle(options.requestsPerSecond);
    this.#workers = new Workers(options.concurrency, options.responseMs);
    const placeOf = ({ request }: Task) =>
      request.leaving ? 4 : (request.joined ? 2 : 0) + (hasFailedEarlier(request) ? 1 : 0);
    const shuffled = shuffledTasks(requests, seed);
    this.tasks = [0, 1, 2, 3, 4].flatMap((place) => shuffled.filter((task) => placeOf(task) === place));
    for (const task of this.tasks) {
      const { cluster, leaving, joined } = task.request;
      if (leaving) this.#unfinishedLeaving += 1;
      else this.#unfinished.set(cluster, (this.#unfinished.get(cluster) ?? 0) + 1);
      if (!leaving && !joined) this.#unfinishedKnown += 1;
      this.#queue.add(task, rankOf(task, ranks.first));
    }
    const healthChecks = archived.filter(({ leaving }) => !leaving);
    this.#breaker = new CircuitBreaker(this.#queue, () => this.#nextUnasked(), healthChecks, random);
    this.#key = new KeyJudgement(this.#unfinished.size, archived.length > 0);
  }

  /** Whether probes have shown that the service is down; nothing else is asked. */
  get isServiceDown(): boolean {
    return this.#breaker.isServiceDown;
  }

  /** Call it again after every report, and when the time of a `wait` has come. */
  next(nowMs: number): Decision {
    if (this.#key.isSuspected && this.#workers.isIdle) return { kind: 'end', reason: this.#key.reason };
    const outage = this.#options.endsEarly ? this.#breaker.outage : undefined;
    if (outage !== undefined) return { kind: 'end', reason: outage };
    if (this.#unfinished.size + this.#unfinishedLeaving === 0) return { kind: 'done' };
    // A round of probes does not wait for one that keeps its worker.
    if (this.#isContended(nowMs))
      this.#workers.endOverdue(nowMs, (leftAlone) => this.#breaker.probeEnded(leftAlone, nowMs));
    const startMs = this.#throttle.startMs(nowMs);
    if (!this.#workers.isFull && startMs <= nowMs) {
      const inFlight = this.#choose(nowMs);
      if (inFlight !== undefined) return { kind: 'ask', inFlight: this.#begin(inFlight, nowMs) };
    }
    const overdueMs = this.#isContended(nowMs) ? this.#workers.nextOverdueMs : Number.POSITIVE_INFINITY;
    return { kind: 'wait', untilMs: Math.min(this.#nextStartMs(nowMs, startMs), overdueMs) };
  }

  /** A good answer has arrived whole. The request keeps its worker until {@link ended}. */
  answered(inFlight: InFlightRequest, nowMs: number): void {
    this.#workers.answered(inFlight, nowMs);
    this.#throttle.succeeded();
    if (!this.#hasSay(inFlight)) return;
    this.#key.accepted();
    this.#breaker.succeeded(inFlight, true);
  }

  /** The request is over and so is its task: archived, or failed for a reason that is not the service's. */
  ended(inFlight: InFlightRequest): void {
    this.#workers.free(inFlight);
    if (inFlight.kind !== 'health-check') this.#finish(inFlight.task);
  }

  /** The health check failed. Nothing is left to do for it. */
  checkFailed(check: HealthCheck, error: unknown, nowMs: number): void {
    this.#judgeService(check, error, nowMs);
  }

  /**
   * The request failed.
   * @param reading of the key: if it was rejected, it is read again before
   * @returns why its task has failed; undefined: another request comes later
   */
  failed(
    inFlight: TaskRequest,
    error: unknown,
    nowMs: number,
    reading?: KeyReading,
  ): { readonly failed: unknown } | undefined {
    const { task } = inFlight;
    const { cluster, leaving } = inFlight.request;
    const delayMs = this.#judgeService(inFlight, error, nowMs);
    if (reading !== 'same' && !leaving) this.#key.endedOtherwise();
    else if (this.#mayBlame(inFlight)) this.#key.rejected(cluster);
    task.last = error instanceof ServiceError ? error : undefined;
    const leftMs = this.#options.deadlineMs - nowMs;
    const next = afterFailure(task, error, { nowMs, delayMs, leftMs, reading });
    if ('failed' in next) {
      this.#finish(task);
      return next;
    }
    this.#queue.add(task, rankOf(task, next.rank), next.dueMs, next.notBeforeMs);
    return undefined;
  }

  /** What a failure says of the service, whatever was asked for. @returns how long to wait before the next request, in milliseconds */
  #judgeService(inFlight: InFlightRequest, error: unknown, nowMs: number): number {
    const failure = error instanceof ServiceError ? error : undefined;
    // A wrong body is an answer too.
    const isAnswer = failure?.status === undefined ? inFlight.headMs !== undefined || !failure : failure.status < 500;
    const isCheck = inFlight.kind === 'health-check';
    if (isAnswer && this.#hasSay(inFlight)) this.#breaker.succeeded(inFlight, false);
    else if (!isAnswer && !isCheck && this.#mayBlame(inFlight))
      this.#breaker.failed(inFlight, failure?.lasting, this.#unfinished.size, nowMs);
    const counted = isCheck ? 1 : Math.max(1, inFlight.task.counted);
    const delayMs = retryDelayMs(counted, failure?.retryAfterMs, this.#options.random);
    if (failure?.throttled) this.#throttled(inFlight, failure.status, delayMs, nowMs);
    else if (isAnswer) this.#throttle.answered();
    this.#workers.free(inFlight);
    this.#breaker.probeEnded(inFlight, nowMs);
    return delayMs;
  }

  /** A task of the next cluster that nothing was asked for yet. */
  #nextUnasked(): Task | undefined {
    for (let task = this.tasks[this.#askedTo]; task; task = this.tasks[this.#askedTo]) {
      if (task.request.leaving) return undefined;
      if (!this.#asked.has(task.request.cluster)) return task;
      this.#askedTo += 1;
    }
    return undefined;
  }

  /** Whether nothing is asked for in turn: probes of the service decide, or requests under way do, of the key. */
  get #isHeldUp(): boolean {
    return this.#breaker.isOpen || this.#key.isSuspected;
  }

  #choose(nowMs: number): InFlightRequest | undefined {
    if (this.#key.isSuspected) return undefined;
    if (this.#breaker.isOpen) return this.#breaker.probe(nowMs);
    const task = this.#queue.first(nowMs);
    return task && new TaskRequest(task, 'regular', nowMs);
  }

  #begin(inFlight: InFlightRequest, nowMs: number): InFlightRequest {
    this.#workers.hold(inFlight);
    this.#throttle.started(nowMs);
    if (inFlight.kind === 'health-check') return inFlight;
    const { task } = inFlight;
    this.#queue.take(task);
    this.#asked.add(task.request.cluster);
    task.startedMs ??= nowMs;
    task.requests += 1;
    if (inFlight.kind === 'regular') task.counted += 1;
    inFlight.hasFullTime = task.isSlow;
    return inFlight;
  }

  #nextStartMs(nowMs: number, startMs: number): number {
    if (!this.#workers.isFull && startMs > nowMs) return startMs;
    if (!this.#isHeldUp) return this.#queue.nextDueMs;
    return this.#workers.isFull || this.#key.isSuspected ? Number.POSITIVE_INFINITY : this.#breaker.nextProbeMs;
  }

  /** Whether somebody waits for a worker, or everybody for those under way. Nobody gives way for who joined, or is leaving. */
  #isContended(nowMs: number): boolean {
    if (this.#isHeldUp) return true;
    const next = this.#workers.isFull ? this.#queue.first(nowMs) : undefined;
    if (next?.request.joined) return this.#unfinishedKnown === 0;
    return next !== undefined && (!next.request.leaving || this.#unfinished.size === 0);
  }

  /** Whether an answer says how the service is: whoever writes the list of clusters chooses who is leaving. */
  #hasSay({ request }: InFlightRequest): boolean {
    return !request.leaving || this.#unfinished.size === 0;
  }

  /** Whether a failure may end the attempt: whoever writes the list chooses who joins, and must not end it for the others. */
  #mayBlame({ request }: InFlightRequest): boolean {
    return !request.leaving && (!request.joined || this.#unfinishedKnown === 0);
  }

  #throttled(
    { request, startedMs }: InFlightRequest,
    status: number | undefined,
    delayMs: number,
    nowMs: number,
  ): void {
    const pauseMs = this.#throttle.throttled(status, delayMs, startedMs, nowMs);
    if (pauseMs !== undefined) this.#queue.pause(request.cluster, nowMs + pauseMs);
  }

  #finish({ request: { cluster, leaving, joined } }: Task): void {
    if (leaving) {
      this.#unfinishedLeaving -= 1;
      return;
    }
    if (!joined) this.#unfinishedKnown -= 1;
    const left = (this.#unfinished.get(cluster) ?? 0) - 1;
    if (left > 0) this.#unfinished.set(cluster, left);
    else this.#unfinished.delete(cluster);
  }
}

/** Who is leaving always comes last, and who joined behind the turns and retries of the others. */
function rankOf({ request: { joined, leaving } }: Task, rank: Rank): Rank {
  if (leaving) return ranks.leaving;
  return joined && rank < ranks.joined ? ranks.joined : rank;
}
