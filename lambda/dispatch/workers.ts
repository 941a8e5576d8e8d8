import type { Turn } from './turn';

/** Shortest patience, in milliseconds. */
const leastPatienceMs = 10_000;

/** One in so many requests that ran out of patience is left alone. */
const leftAlone = 16;

/**
 * The requests under way, and how long one may hold its worker without progress while others wait: ten seconds, or twice
 * as long as the slowest good answer so far. One request in sixteen is left alone for its full time limit: it shows
 * whether the service hangs or is only slow, so that a slow one is not cut off for ever.
 */
export class Workers {
  readonly #count: number;
  readonly #fullMs: number;
  readonly #underWay = new Set<Turn>();
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

  get isFull(): boolean {
    return this.#underWay.size >= this.#count;
  }

  /** Whether a body is arriving. */
  get isReceiving(): boolean {
    for (const { headMs, isAnswered, isCancelled } of this.#underWay)
      if (headMs !== undefined && !isAnswered && !isCancelled) return true;
    return false;
  }

  hold(turn: Turn): void {
    this.#underWay.add(turn);
  }

  free(turn: Turn): void {
    this.#underWay.delete(turn);
  }

  /** A good answer came; its turn still holds its worker. */
  answered(turn: Turn, nowMs: number): void {
    turn.isAnswered = true;
    this.#slowestMs = Math.max(this.#slowestMs, (turn.headMs ?? nowMs) - turn.startedMs);
  }

  /** When the next request will be overdue, in milliseconds. */
  get nextOverdueMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const turn of this.#underWay) earliestMs = Math.min(earliestMs, turn.overdueMs(this.#limitMs(turn)));
    return earliestMs;
  }

  /**
   * @param onLeftAlone called for a request that keeps its worker although it is overdue
   * @returns a request that is to give its worker to others
   */
  overdue(nowMs: number, onLeftAlone: (turn: Turn) => void): Turn | undefined {
    for (const turn of this.#underWay) {
      if (turn.overdueMs(this.#limitMs(turn)) > nowMs || turn.hasProgressed(nowMs)) continue;
      if (turn.isPatient) return turn;
      this.#exceeded += 1;
      if (this.#exceeded % leftAlone !== 1) return turn;
      turn.isPatient = true;
      onLeftAlone(turn);
    }
    return undefined;
  }

  #limitMs({ isPatient }: Turn): number {
    if (isPatient) return this.#fullMs;
    return Math.min(this.#fullMs, Math.max(leastPatienceMs, 2 * this.#slowestMs));
  }
}
