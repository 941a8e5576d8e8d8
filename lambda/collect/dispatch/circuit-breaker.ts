import type { ResourceRequest } from '../service/resource-request';
import type { FairQueue } from './fair-queue';
import { InFlightRequest } from './in-flight-request';
import type { Task } from './task';

/** How the reason begins with which an attempt ends early because nobody is answered. */
export const unansweredReasons = {
  down: 'the service looks down',
  /** Its address or its certificate is wrong: waiting does not help. */
  unreachable: 'the service cannot be reached',
} as const;

/** So many different clusters must fail in a row to open the breaker; in a smaller fleet, all of them. */
const clustersToOpen = 10;

/** Probes of the first round. Each further round has this many times the probes of the round before. */
const growth = 4;

/** Probes of a round that ask again, once every cluster was asked. */
const probesAgain = 4;

/** Pauses before the second and each further round, in milliseconds; the last one is repeated. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000] as const;

/** Rounds of probes without an answer before an attempt may end early: about three seconds. */
const roundsToEnd = 4;

/** Most archived resources that are remembered. Asking for one again shows whether the service is up. */
const mostHealthChecks = 100;

/** Probes that are made together, and judged once all of them are over. */
interface ProbeRound {
  readonly startMs: number;
  /** Probes that are still to be made. */
  left: number;
  made: number;
  readonly underWay: Set<InFlightRequest>;
}

/**
 * Tells a service that is down from clusters that fail on their own. Closed: everything may be asked. Open: only probes
 * are made, in rounds with a pause between them; one answer closes it. A cluster fails here if its request ends without
 * any answer or with a server error (5xx); every other answer shows that the service is up.
 */
export class CircuitBreaker {
  readonly #queue: FairQueue;
  readonly #nextUnasked: () => Task | undefined;
  readonly #healthChecks: ResourceRequest[];
  readonly #random: () => number;
  /** Clusters that failed since the last answer. */
  readonly #failing = new Set<string>();
  #round: ProbeRound | undefined;
  #failedRounds = 0;
  /** What the last failure says is wrong with the address or the certificate. */
  #lasting: string | undefined;

  /**
   * @param nextUnasked a task of the next cluster that nothing was asked for yet: probes ask for these first
   * @param archived what earlier attempts of the run have archived
   * @param random uniform in [0, 1)
   */
  constructor(
    queue: FairQueue,
    nextUnasked: () => Task | undefined,
    archived: readonly ResourceRequest[],
    random: () => number,
  ) {
    this.#queue = queue;
    this.#nextUnasked = nextUnasked;
    this.#healthChecks = archived.slice(-mostHealthChecks);
    this.#random = random;
  }

  get isOpen(): boolean {
    return this.#round !== undefined;
  }

  /** Whether probes have shown that the service is down. */
  get isServiceDown(): boolean {
    return this.#failedRounds > 0;
  }

  /** Why an attempt may end early, in words; undefined: the service may still answer. */
  get outage(): string | undefined {
    if (this.#failedRounds < roundsToEnd || this.#nextUnasked() !== undefined) return undefined;
    if (this.#lasting !== undefined) return `${unansweredReasons.unreachable}: ${this.#lasting}`;
    const { size } = this.#failing;
    const clusters = size === 1 ? 'the only cluster left' : `${size} different clusters in a row`;
    return `${unansweredReasons.down}: no usable answer for ${clusters}; ask again in a few minutes`;
  }

  /** When the next probe may start, in milliseconds; Infinity while probes are waited for. */
  get nextProbeMs(): number {
    const { left = 0, startMs = 0 } = this.#round ?? {};
    return left > 0 ? startMs : Number.POSITIVE_INFINITY;
  }

  /** @returns the probe to make now, if there is one */
  probe(nowMs: number): InFlightRequest | undefined {
    const round = this.#round;
    if (round === undefined || this.nextProbeMs > nowMs) return undefined;
    const inFlight = this.#choose(round.made, nowMs);
    if (inFlight === undefined) {
      round.left = 0;
      this.#endRound(round, nowMs);
      return undefined;
    }
    round.left -= 1;
    round.made += 1;
    round.underWay.add(inFlight);
    return inFlight;
  }

  /** The request is over, or nobody waits for it any more. Does nothing unless it is a probe of the current round. */
  probeEnded(inFlight: InFlightRequest, nowMs: number): void {
    if (this.#round?.underWay.delete(inFlight)) this.#endRound(this.#round, nowMs);
  }

  /** The service answered. @param isGood whether asking for the same again shows that the service is up */
  succeeded({ request, task }: InFlightRequest, isGood: boolean): void {
    this.#failing.clear();
    this.#round = undefined;
    this.#failedRounds = 0;
    if (isGood && task !== undefined && this.#healthChecks.length < mostHealthChecks) this.#healthChecks.push(request);
  }

  /**
   * @param lasting why asking again hardly helps, if that is known
   * @param unfinished clusters with something left to do, this one included
   */
  failed({ request, task }: InFlightRequest, lasting: string | undefined, unfinished: number, nowMs: number): void {
    this.#lasting = lasting;
    if (task === undefined) return;
    this.#failing.add(request.cluster);
    if (this.#round || this.#failing.size < Math.min(clustersToOpen, unfinished)) return;
    this.#beginRound(nowMs);
  }

  #choose(made: number, nowMs: number): InFlightRequest | undefined {
    const healthCheck = this.#healthChecks[this.#failedRounds % this.#healthChecks.length];
    if (healthCheck !== undefined && made === 0) return new InFlightRequest(healthCheck, undefined, 'probe', nowMs);
    // A health check is all that the first round needs.
    if (healthCheck !== undefined && this.#failedRounds === 0) return undefined;
    const task = this.#nextUnasked() ?? (made < probesAgain ? this.#queue.longestWaiting(nowMs) : undefined);
    return task && new InFlightRequest(task.request, task, 'probe', nowMs);
  }

  #endRound({ left, underWay }: ProbeRound, nowMs: number): void {
    if (left > 0 || underWay.size > 0) return;
    const pauseMs = pausesMs[Math.min(this.#failedRounds, pausesMs.length - 1)] ?? 0;
    this.#failedRounds += 1;
    // Half of the pause is random, so that collectors that failed together do not come back together.
    this.#beginRound(nowMs + (pauseMs * (1 + this.#random())) / 2);
  }

  #beginRound(startMs: number): void {
    this.#round = { startMs, left: growth ** (this.#failedRounds + 1), made: 0, underWay: new Set() };
  }
}
