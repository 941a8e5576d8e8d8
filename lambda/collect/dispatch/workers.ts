import type { InFlightRequest } from './in-flight-request';

/** Least time without progress before a request gives its worker to others, in milliseconds. */
const leastLimitMs = 10_000;

/** One in so many overdue requests is left alone. */
const leftAlone = 16;

/**
 * The requests under way, and how long one may hold its worker without progress while others wait: ten seconds, or twice
 * as long as the slowest good answer so far. One request in sixteen is left alone for its full time limit: it shows
 * whether the service hangs or is only slow, so that a slow one is not cut off for ever.
 */
export class Workers {
  readonly #count: number;
  readonly #fullMs: number;
  readonly #underWay = new Set<InFlightRequest>();
  #slowestMs = 0;
  #exceeded = 0;

  /**
   * @param count requests under way at once
   * @param fullMs time limit of an answer, in milliseconds
   */
  constructor(count: number, fullMs: number) {
    this.#count = count;
    this.#fullMs = fullMs;
  }

  /** Whether no request is under way. */
  get isIdle(): boolean {
    return this.#underWay.size === 0;
  }

  get isFull(): boolean {
    return this.#underWay.size >= this.#count;
  }

  hold(inFlight: InFlightRequest): void {
    this.#underWay.add(inFlight);
  }

  free(inFlight: InFlightRequest): void {
    this.#underWay.delete(inFlight);
  }

  /** A good answer came; its request still holds its worker. */
  answered(inFlight: InFlightRequest, nowMs: number): void {
    inFlight.isAnswered = true;
    this.#slowestMs = Math.max(this.#slowestMs, (inFlight.headMs ?? nowMs) - inFlight.startedMs);
  }

  /** When the next request will be overdue, in milliseconds. */
  get nextOverdueMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const inFlight of this.#underWay)
      earliestMs = Math.min(earliestMs, inFlight.overdueMs(this.#limitMs(inFlight)));
    return earliestMs;
  }

  /**
   * Lets overdue requests give their workers to others.
   * @param onLeftAlone called for a request that keeps its worker although it is overdue
   */
  endOverdue(nowMs: number, onLeftAlone: (inFlight: InFlightRequest) => void): void {
    for (const inFlight of this.#underWay) {
      if (inFlight.overdueMs(this.#limitMs(inFlight)) > nowMs || inFlight.hasProgressed(nowMs)) continue;
      if (!inFlight.hasFullTime) this.#exceeded += 1;
      if (inFlight.hasFullTime || this.#exceeded % leftAlone !== 1) inFlight.giveWay(nowMs);
      else {
        inFlight.hasFullTime = true;
        onLeftAlone(inFlight);
      }
    }
  }

  #limitMs({ hasFullTime }: InFlightRequest): number {
    if (hasFullTime) return this.#fullMs;
    return Math.min(this.#fullMs, Math.max(leastLimitMs, 2 * this.#slowestMs));
  }
}
