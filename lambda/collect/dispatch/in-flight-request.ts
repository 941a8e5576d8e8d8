import { callName, type ResourceRequest } from '../service/resource-request';
import { ServiceError } from '../service/service-error';
import type { Task } from './task';

/** A body that brings this many bytes within its time makes progress. */
const progressBytes = 16 * 1024;

/** One request under way. */
export type InFlightRequest = TaskRequest | HealthCheck;

/** What holds a worker, and how long it may. */
abstract class UnderWay {
  /** When the answer's head arrived. */
  headMs: number | undefined;
  /** Whether it keeps its worker for its full time limit. */
  hasFullTime = false;
  /** Whether the answer has arrived. Its worker is held for what follows: archiving it, or reading the key again. */
  isAnswered = false;
  readonly #cancelled = new AbortController();
  #received: () => number = () => 0;
  /** When the current window for progress began, and the bytes that were there. */
  #windowMs: number;
  #windowBytes = 0;

  constructor(
    /** What is asked for. */
    readonly request: ResourceRequest,
    readonly startedMs: number,
  ) {
    this.#windowMs = startedMs;
  }

  /** @param received tells how many bytes of the body have arrived, at any time */
  head(received: () => number, nowMs: number): void {
    this.headMs = nowMs;
    this.#received = received;
  }

  /**
   * When it will have been without progress for so long, in milliseconds; Infinity if it no longer waits for the
   * service.
   */
  overdueMs(limitMs: number): number {
    return this.isAnswered || this.signal.aborted ? Number.POSITIVE_INFINITY : this.#windowMs + limitMs;
  }

  /** Whether the body has brought enough since this was last asked. */
  hasProgressed(nowMs: number): boolean {
    const received = this.#received();
    if (received - this.#windowBytes < progressBytes) return false;
    this.#windowMs = nowMs;
    this.#windowBytes = received;
    return true;
  }

  /** Aborts when it has to end: with the failure to report, or with the end of the attempt. */
  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  cancel(reason: unknown): void {
    this.#cancelled.abort(reason);
  }

  /** Cancels it because others need its worker. */
  giveWay(nowMs: number): void {
    const seconds = Math.round((nowMs - this.#windowMs) / 1000);
    const what = this.headMs === undefined ? 'no answer' : `less than ${progressBytes} bytes of its body`;
    const problem = `${callName(this.request)} failed: ${what} in ${seconds} s while others waited`;
    this.cancel(new ServiceError(problem, 'timeout'));
  }
}

/** Its answer is archived. */
export class TaskRequest extends UnderWay {
  /** @param kind a probe is made because the service looks down, to see whether it answers */
  constructor(
    readonly task: Task,
    readonly kind: 'regular' | 'probe',
    startedMs: number,
  ) {
    super(task.request, startedMs);
  }
}

/** A probe that asks again for what is archived already. Its answer's head is enough. */
export class HealthCheck extends UnderWay {
  readonly kind = 'health-check';
}
