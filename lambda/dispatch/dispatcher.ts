import { NotDecodableError } from '../body/body-check';
import type { ResourceRequest } from '../service/resource-request';
import { lastFailure, ServiceError } from '../service/service-error';
import { CircuitBreaker } from './circuit-breaker';
import { ClusterSample } from './cluster-sample';
import { FairQueue } from './fair-queue';
import { InFlightRequest } from './in-flight-request';
import { KeyJudgement } from './key-judgement';
import { isRetried, maxRequests, retryDelayMs } from './retry';
import { planTasks, ranks, type Task } from './task';
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
  /** What earlier attempts of the run have archived. */
  readonly archived: readonly ResourceRequest[];
  readonly hasFailedEarlier: (request: ResourceRequest) => boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Nothing more is to be asked in this attempt. */
export interface EarlyEnd {
  readonly kind: 'end';
  readonly why: 'service-down' | 'key-rejected';
  readonly reason: string;
}

/** What the driver has to do now. */
export type Decision =
  | { readonly kind: 'ask'; readonly inFlight: InFlightRequest }
  /** Wait until that time or until a request ends. Infinity: until a request ends. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  | EarlyEnd
  | { readonly kind: 'done' };

/** What follows from a failure: another request comes later, the key is to be read again, or the task has failed. */
export type Verdict = 'waits' | 'read-key' | { readonly failed: unknown };

/** What reading the key again has shown; an error if that failed. */
export type KeyReading = 'changed' | 'same' | Error;

/**
 * Decides who is asked next, how long a request may take, and when an attempt gives up. It makes no request and has no
 * clock: a driver does what {@link next} says and reports what came of it.
 */
export class Dispatcher {
  readonly tasks: readonly Task[];
  readonly #options: DispatchOptions;
  readonly #queue = new FairQueue();
  readonly #sample: ClusterSample;
  readonly #breaker: CircuitBreaker;
  readonly #key: KeyJudgement;
  readonly #throttle: Throttle;
  readonly #workers: Workers;
  /** Clusters with something left to do. */
  #unfinished: number;

  constructor(requests: readonly ResourceRequest[], options: DispatchOptions) {
    this.#options = options;
    this.#throttle = new Throttle(options.requestsPerSecond);
    this.#workers = new Workers(options.concurrency, options.responseMs);
    const { tasks, clusters } = planTasks(requests);
    this.tasks = tasks;
    this.#unfinished = clusters.length;
    for (const task of tasks)
      this.#queue.add(task, options.hasFailedEarlier(task.request) ? ranks.failedEarlier : ranks.unattempted);
    this.#sample = new ClusterSample(clusters, this.#queue);
    this.#breaker = new CircuitBreaker(this.#sample, options.archived, options.random);
    this.#key = new KeyJudgement(this.#sample, options.archived.length > 0);
  }

  /** Whether probes have shown that the service is down; nothing else is asked. */
  get isServiceDown(): boolean {
    return this.#breaker.isServiceDown;
  }

  /** Call it again after every report, and when the time of a `wait` has come. */
  next(nowMs: number): Decision {
    const end = this.#earlyEnd();
    if (end !== undefined) return end;
    if (this.#unfinished === 0) return { kind: 'done' };
    // A round of probes does not wait for one that keeps its worker.
    if (this.#isContended(nowMs)) this.#workers.endOverdue(nowMs, (leftAlone) => this.#probeEnded(leftAlone, nowMs));
    const startMs = this.#throttle.startMs(nowMs);
    if (!this.#workers.isFull && startMs <= nowMs) {
      const inFlight = this.#choose(nowMs);
      if (inFlight !== undefined) return { kind: 'ask', inFlight: this.#begin(inFlight, nowMs) };
      // The attempt may end now, because nobody is left to probe.
      const late = this.#earlyEnd();
      if (late !== undefined) return late;
    }
    const overdueMs = this.#isContended(nowMs) ? this.#workers.nextOverdueMs : Number.POSITIVE_INFINITY;
    return { kind: 'wait', untilMs: Math.min(this.#nextStartMs(nowMs, startMs), overdueMs) };
  }

  /** A good answer has arrived whole. The request keeps its worker until {@link ended}. */
  answered(inFlight: InFlightRequest, nowMs: number): void {
    if (inFlight.task !== undefined) inFlight.task.cluster.isUnanswered = false;
    this.#workers.answered(inFlight, nowMs);
    this.#throttle.succeeded();
    this.#key.accepted(inFlight);
    this.#breaker.succeeded(inFlight, true);
  }

  /** The request is over and so is its task: archived, or failed for a reason that is not the service's. */
  ended(inFlight: InFlightRequest): void {
    this.#workers.free(inFlight);
    if (inFlight.task !== undefined) this.#finish(inFlight.task);
  }

  /** The request failed. Its worker is free, unless the key is to be read again: that takes until {@link keyRead}. */
  failed(inFlight: InFlightRequest, error: unknown, nowMs: number): Verdict {
    const { task } = inFlight;
    const failure = error instanceof ServiceError ? error : undefined;
    // A wrong body is an answer too.
    const isAnswer = failure?.status === undefined ? inFlight.headMs !== undefined || !failure : failure.status < 500;
    if (task !== undefined) task.cluster.isUnanswered = !isAnswer;
    if (isAnswer) this.#breaker.succeeded(inFlight, false);
    else this.#breaker.failed(inFlight, failure?.lasting, this.#unfinished, nowMs);
    const delayMs = retryDelayMs(Math.max(1, task?.counted ?? 1), failure?.retryAfterMs, this.#options.random);
    if (failure?.throttled) this.#throttled(inFlight, failure.status, delayMs, nowMs);
    else if (isAnswer) this.#throttle.answered();
    if (task !== undefined && failure?.rejected) return this.#rejected(inFlight, task, failure);
    this.#probeEnded(inFlight, nowMs);
    this.#workers.free(inFlight);
    if (task === undefined) return 'waits';
    return failure ? this.#retry(task, failure, delayMs, nowMs) : this.#invalid(task, error);
  }

  /** The key was read again after the request was rejected. */
  keyRead(inFlight: InFlightRequest, reading: KeyReading, nowMs: number): Verdict {
    this.#workers.free(inFlight);
    const { task } = inFlight;
    if (task?.last === undefined) return 'waits';
    if (reading === 'same') this.#key.rejected(inFlight);
    this.#probeEnded(inFlight, nowMs);
    if (reading === 'changed' && task.keyChanges < maxRequests) {
      this.#key.changed(inFlight, nowMs);
      task.keyChanges += 1;
      if (inFlight.kind !== 'probe') task.counted -= 1;
      this.#queue.add(task, ranks.again);
      return 'waits';
    }
    if (!(reading instanceof Error)) return this.#giveUp(task, task.last);
    return this.#giveUp(task, lastFailure(task.last, `the key could not be read again: ${reading.message}`));
  }

  #earlyEnd(): EarlyEnd | undefined {
    const { rejection } = this.#key;
    if (rejection !== undefined) return { kind: 'end', why: 'key-rejected', reason: rejection };
    const outage = this.#options.endsEarly ? this.#breaker.outage : undefined;
    // A body that is arriving is an answer. Ending now would cut it off.
    if (outage === undefined || this.#workers.isReceiving) return undefined;
    return { kind: 'end', why: 'service-down', reason: outage };
  }

  /** Whether probes decide now, and nothing else is asked. */
  get #isProbing(): boolean {
    return this.#breaker.isOpen || this.#key.isProbing;
  }

  /** The request is over, or nobody waits for it any more. Does nothing unless it is a probe. */
  #probeEnded(inFlight: InFlightRequest, nowMs: number): void {
    this.#breaker.probeEnded(inFlight, nowMs);
    this.#key.probeEnded(inFlight);
  }

  #choose(nowMs: number): InFlightRequest | undefined {
    if (this.#breaker.isOpen) return this.#breaker.probe(nowMs);
    if (this.#key.isProbing) return this.#key.probe(nowMs);
    const first = this.#queue.first(nowMs);
    // A cluster elsewhere in the list shows whether the service throttles all clusters or only one.
    const isElsewhere = this.#throttle.isInDoubt && (!first || this.#queue.rankOf(first) !== ranks.again);
    const task = isElsewhere ? (this.#sample.unasked() ?? first) : first;
    return task && new InFlightRequest(task.request, task, 'regular', nowMs);
  }

  #begin(inFlight: InFlightRequest, nowMs: number): InFlightRequest {
    this.#workers.hold(inFlight);
    this.#throttle.started(nowMs);
    const { task } = inFlight;
    if (task === undefined) return inFlight;
    this.#queue.take(task);
    task.cluster.isAsked = true;
    task.startedMs ??= nowMs;
    task.requests += 1;
    if (inFlight.kind !== 'probe') task.counted += 1;
    return inFlight;
  }

  #nextStartMs(nowMs: number, startMs: number): number {
    if (!this.#workers.isFull && startMs > nowMs) return startMs;
    if (!this.#isProbing) return this.#queue.nextDueMs;
    return this.#workers.isFull ? Number.POSITIVE_INFINITY : this.#breaker.nextProbeMs;
  }

  /** Whether somebody waits for a worker, or everybody for the probes. */
  #isContended(nowMs: number): boolean {
    return this.#isProbing || (this.#workers.isFull && this.#queue.first(nowMs) !== undefined);
  }

  #throttled({ task, startedMs }: InFlightRequest, status: number | undefined, delayMs: number, nowMs: number): void {
    const pauseMs = this.#throttle.throttled(status, delayMs, startedMs, nowMs);
    if (task !== undefined && pauseMs !== undefined) task.cluster.pausedUntilMs = nowMs + pauseMs;
  }

  #rejected(inFlight: InFlightRequest, task: Task, failure: ServiceError): Verdict {
    inFlight.isAnswered = true;
    task.last = failure;
    return 'read-key';
  }

  #invalid(task: Task, error: unknown): Verdict {
    if (!(error instanceof NotDecodableError) || task.asReceived) return this.#giveUp(task, error);
    task.asReceived = true;
    this.#queue.add(task, ranks.again);
    return 'waits';
  }

  #retry(task: Task, error: ServiceError, delayMs: number, nowMs: number): Verdict {
    task.last = error;
    if (error.failure === 'used-connection') {
      task.alone = true;
      this.#queue.add(task, ranks.again);
      return 'waits';
    }
    if (!isRetried(error.failure, error.status)) return this.#giveUp(task, error);
    if (task.counted >= maxRequests)
      return this.#giveUp(task, lastFailure(error, `gave up after ${task.requests} requests`));
    if (nowMs + delayMs >= this.#options.deadlineMs) {
      const due = `the next request would be due in ${Math.ceil(delayMs / 1000)} s, after this attempt's time`;
      return this.#giveUp(task, lastFailure(error, due));
    }
    if (error.failure === 'timeout') task.isSlow = true;
    if (error.failure === 'coding') task.uncoded = true;
    if (error.retryAfterMs !== undefined) task.retryAfterMs = nowMs + delayMs;
    this.#queue.add(task, task.isSlow ? ranks.slow : ranks.retry, nowMs + delayMs);
    return 'waits';
  }

  #giveUp(task: Task, error: unknown): Verdict {
    this.#finish(task);
    return { failed: error };
  }

  #finish(task: Task): void {
    task.isDone = true;
    if (task.cluster.tasks.some(({ isDone }) => !isDone)) return;
    this.#unfinished -= 1;
    this.#breaker.finished(task.cluster.uid);
  }
}
