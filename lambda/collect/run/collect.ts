import { isNativeError } from 'node:util/types';
import type { Configuration } from '../../../archive/format/configuration';
import { withLateDoubt } from '../../../archive/format/late-doubt';
import type { Outcome } from '../../../archive/format/run-record';
import { logMessages } from '../../stack-contract';
import { RunStopped } from '../../stop';
import { asynchronousAttempts } from '../../time-limits';
import { InvalidBodyError } from '../body/body-check';
import { Dispatcher, type DispatchOptions } from '../dispatch/dispatcher';
import type { HealthCheck, InFlightRequest, TaskRequest } from '../dispatch/in-flight-request';
import type { KeyReading } from '../dispatch/retry';
import type { Task } from '../dispatch/task';
import type { ApiKey } from '../service/api-key';
import type { ClusterApi } from '../service/cluster-api';
import type { ResourceRequest, ServiceAnswer } from '../service/resource-request';
import { ServiceError } from '../service/service-error';
import {
  type ArchivingContext,
  archiveAnswer,
  failedOutcome,
  identityOf,
  leftOutcome,
  messageOf,
  type TaskOutcome,
} from './outcomes';
import type { Reporter } from './reporter';
import { Wakeup } from './wakeup';

export interface CollectContext extends ArchivingContext {
  readonly configuration: Pick<Configuration, 'limits'>;
  readonly service: Pick<ClusterApi, 'get'>;
  readonly keys: Pick<ApiKey, 'current' | 'afterRejection'>;
  readonly reporter: Reporter;
}

export interface CollectRequest {
  readonly run: Date;
  /** What earlier attempts of the run have done. */
  readonly earlier: Pick<DispatchOptions, 'archived' | 'hasFailedEarlier'> & { readonly attempts: number };
}

/**
 * Works on every task, a bounded number at once; one that fails stops no other.
 * @returns one outcome per task, in the tasks' order; never rejects for a task's failure
 */
export async function collect(
  tasks: readonly ResourceRequest[],
  request: CollectRequest,
  context: CollectContext,
): Promise<Outcome[]> {
  if (tasks.length === 0) return [];
  return new Collecting(tasks, request, context).run();
}

/** Ends a health check when the head of its answer has arrived: nobody needs the body. */
const headIsEnough = new Error('the head of the answer was enough');

/** Drives a {@link Dispatcher}: makes the requests that it decides on and reports what came of them. */
class Collecting {
  readonly #request: CollectRequest;
  readonly #context: CollectContext;
  readonly #dispatcher: Dispatcher;
  readonly #wakeup: Wakeup;
  readonly #outcomes: Outcome[];
  /** Clusters of which an answer has named another one: what does not name its cluster is doubted. */
  readonly #misnamed = new Set<string>();
  readonly #underWay = new Map<InFlightRequest, Promise<void>>();

  constructor(tasks: readonly ResourceRequest[], request: CollectRequest, context: CollectContext) {
    const { clock, stop, configuration } = context;
    this.#request = request;
    this.#context = context;
    this.#wakeup = new Wakeup(clock);
    this.#outcomes = new Array(tasks.length);
    const { concurrency, requestsPerSecond, responseTimeoutSeconds } = configuration.limits;
    this.#dispatcher = new Dispatcher(tasks, {
      seed: request.run.toISOString(),
      concurrency,
      requestsPerSecond,
      ...request.earlier,
      responseMs: responseTimeoutSeconds * 1000,
      deadlineMs: clock.monotonicMs() + stop.timeLeftMs,
      endsEarly: request.earlier.attempts + 1 < asynchronousAttempts,
      random: () => clock.random(),
    });
  }

  async run(): Promise<Outcome[]> {
    const { stop } = this.#context;
    stop.starting.addEventListener('abort', () => this.#wakeup.notify());
    stop.working.addEventListener('abort', () => this.#cancelAll(stop.working.reason));
    try {
      await this.#dispatch();
      await Promise.all(this.#underWay.values());
    } finally {
      this.#wakeup.close();
    }
    const reason = stop.reason?.message ?? 'the attempt is over';
    for (const task of this.#dispatcher.tasks)
      if (this.#outcomes[task.index] === undefined) this.#settle(task, leftOutcome(task, reason));
    for (const task of this.#dispatcher.tasks) this.#doubtLate(task);
    return this.#outcomes;
  }

  /** Resolves when nothing more is to be asked. */
  async #dispatch(): Promise<void> {
    const { clock, keys, stop, reporter } = this.#context;
    let wasDown = false;
    while (!stop.starting.aborted) {
      // The key is read before the request begins. After a rejection, only a later reading counts.
      const key = await keys.current(stop.working).catch((error: unknown) => {
        // Without a key no task can succeed.
        stop.startNothing(new RunStopped(messageOf(error), { cause: error }));
      });
      if (key === undefined || stop.starting.aborted) return;
      const decision = this.#dispatcher.next(clock.monotonicMs());
      const { isServiceDown } = this.#dispatcher;
      if (isServiceDown !== wasDown) reporter.warn(isServiceDown ? logMessages.paused : logMessages.resumed);
      wasDown = isServiceDown;
      if (decision.kind === 'ask') this.#start(decision.inFlight, key);
      else if (decision.kind === 'wait') await this.#wakeup.wait(decision.untilMs);
      else if (decision.kind === 'end') stop.startNothing(new RunStopped(decision.reason));
      // What is still under way are probes that nobody waits for.
      else return this.#cancelAll(new RunStopped('everything is done'));
    }
  }

  /** Ends requests that have no answer yet; what is being archived goes on. */
  #cancelAll(reason: unknown): void {
    for (const inFlight of this.#underWay.keys()) inFlight.cancel(reason);
  }

  #start(inFlight: InFlightRequest, key: string): void {
    const asking = inFlight.kind === 'health-check' ? this.#checkHealth(inFlight, key) : this.#ask(inFlight, key);
    const over = asking.finally(() => {
      this.#underWay.delete(inFlight);
      this.#wakeup.notify();
    });
    this.#underWay.set(inFlight, over);
  }

  async #checkHealth(check: HealthCheck, key: string): Promise<void> {
    const { clock, service, reporter } = this.#context;
    const onHead = (status: number, received: () => number) => {
      check.head(received, clock.monotonicMs());
      if (status === 200) check.cancel(headIsEnough);
    };
    try {
      const { body } = await service.get(check.request, key, check.signal, onHead);
      await body.release();
    } catch (error) {
      if (error instanceof RunStopped) return this.#dispatcher.ended(check);
      if (error instanceof ServiceError && error.throttled) reporter.throttled();
      if (error !== headIsEnough) return this.#dispatcher.checkFailed(check, error, clock.monotonicMs());
    }
    this.#dispatcher.answered(check, clock.monotonicMs());
    this.#dispatcher.ended(check);
  }

  async #ask(inFlight: TaskRequest, key: string): Promise<void> {
    const { clock, service, reporter } = this.#context;
    const { request, task } = inFlight;
    if (task.requests > 1) reporter.askedAgain(identityOf(task.request), task.requests);
    const onHead = (_status: number, received: () => number) => inFlight.head(received, clock.monotonicMs());
    let answer: ServiceAnswer;
    try {
      answer = await service.get(request, key, inFlight.signal, onHead);
    } catch (error) {
      return this.#fail(inFlight, key, error);
    }
    this.#dispatcher.answered(inFlight, clock.monotonicMs());
    await this.#archive(task, answer);
    this.#dispatcher.ended(inFlight);
  }

  async #archive(task: Task, answer: ServiceAnswer): Promise<void> {
    const doubted = this.#misnamed.has(task.request.cluster) ? withDoubt(answer) : answer;
    await archiveAnswer(task.request, doubted, this.#request.run, this.#context).then(
      (outcome) => this.#settle(task, outcome),
      (error) => this.#settle(task, failedOutcome(error)),
    );
  }

  async #fail(inFlight: TaskRequest, key: string, error: unknown): Promise<void> {
    const { clock, reporter } = this.#context;
    const { task } = inFlight;
    if (error instanceof RunStopped) {
      this.#settle(task, failedOutcome(error));
      return this.#dispatcher.ended(inFlight);
    }
    if (error instanceof ServiceError && error.throttled) reporter.throttled();
    let reading: KeyReading | undefined;
    if (error instanceof ServiceError && error.rejected) {
      inFlight.isAnswered = true;
      reading = await this.#readKey(key);
    }
    const verdict = this.#dispatcher.failed(inFlight, error, clock.monotonicMs(), reading);
    if (verdict === undefined) return;
    if (verdict.failed instanceof InvalidBodyError && verdict.failed.namesAnother)
      this.#misnamed.add(task.request.cluster);
    this.#settle(task, failedOutcome(verdict.failed));
  }

  /** What was archived before the other answer came has its doubt in the record alone. */
  #doubtLate({ index, request }: Task): void {
    const outcome = this.#outcomes[index];
    const isOfAnswer = outcome?.outcome === 'archived' || outcome?.outcome === 'would-archive';
    if (!isOfAnswer || !this.#misnamed.has(request.cluster)) return;
    const doubted = { ...outcome, doubt: withLateDoubt(outcome.doubt) };
    if (doubted.doubt === outcome.doubt) return;
    this.#outcomes[index] = doubted;
    this.#context.reporter.outcome(doubted);
  }

  #readKey(rejected: string): Promise<KeyReading> {
    const { keys, stop } = this.#context;
    return keys.afterRejection(rejected, stop.working).then(
      (key) => (key === rejected ? 'same' : 'changed'),
      (error) => (isNativeError(error) ? error : new Error(String(error))),
    );
  }

  #settle(task: Task, result: TaskOutcome): void {
    const { clock, reporter } = this.#context;
    const { requests, startedMs = 0 } = task;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const effort = requests > 0 && { requests, durationMs };
    const outcome: Outcome = { ...identityOf(task.request), ...result, ...effort };
    this.#outcomes[task.index] = outcome;
    reporter.outcome(outcome);
  }
}

function withDoubt(answer: ServiceAnswer): ServiceAnswer {
  const { body } = answer;
  return { ...answer, body: { ...body, facts: { ...body.facts, doubt: withLateDoubt(body.facts.doubt) } } };
}
