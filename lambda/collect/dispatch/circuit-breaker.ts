import type { ResourceRequest } from '../service/resource-request';
import type { FairQueue } from './fair-queue';
import { HealthCheck, type InFlightRequest, TaskRequest } from './in-flight-request';
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
const mostArchived = 100;

/** Probes that are made together, and judged once all of them are over. */
interface ProbeRound {
  readonly startMs: number;
  /** Probes that are still to be made. */
  left: number;
  made: number;
  readonly underWay: Set<InFlightRequest>;
}

/** Everything may be asked. */
interface Closed {
  readonly kind: 'closed';
  /** Clusters that failed since the last answer. */
  readonly failing: Set<string>;
}

/** Only probes are made, in rounds with a pause between them. */
interface Open {
  readonly kind: 'open';
  readonly failing: Set<string>;
  readonly failedRounds: number;
  readonly round: ProbeRound;
  /** What the last failure says is wrong with the address or the certificate. */
  readonly lasting: string | undefined;
}

/**
 * Tells a service that is down from clusters that fail on their own. Clusters that fail in a row open it; one answer closes
 * it. A cluster fails here if its request ends without any answer or with a server error (5xx); every other answer shows
 * that the service is up.
 */
export class CircuitBreaker {
  readonly #queue: FairQueue;
  readonly #nextUnasked: () => Task | undefined;
  /** What health checks ask for. */
  readonly #archived: ResourceRequest[];
  readonly #random: () => number;
  #state: Closed | Open = { kind: 'closed', failing: new Set() };

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
    this.#archived = archived.slice(-mostArchived);
    this.#random = random;
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open';
  }

  /** Whether probes have shown that the service is down. */
  get isServiceDown(): boolean {
    return this.#state.kind === 'open' && this.#state.failedRounds > 0;
  }

  /** Why an attempt may end early, in words; undefined: the service may still answer. */
  get outage(): string | undefined {
    const state = this.#state;
    if (state.kind === 'closed' || state.failedRounds < roundsToEnd) return undefined;
    if (this.#nextUnasked() !== undefined) return undefined;
    if (state.lasting !== undefined) return `${unansweredReasons.unreachable}: ${state.lasting}`;
    const { size } = state.failing;
    const clusters = size === 1 ? 'the only cluster left' : `${size} different clusters in a row`;
    return `${unansweredReasons.down}: no usable answer for ${clusters}; ask again in a few minutes`;
  }

  /** When the next probe may start, in milliseconds; Infinity while none may. */
  get nextProbeMs(): number {
    const state = this.#state;
    return state.kind === 'open' && state.round.left > 0 ? state.round.startMs : Number.POSITIVE_INFINITY;
  }

  /** @returns the probe to make now, if there is one */
  probe(nowMs: number): InFlightRequest | undefined {
    const state = this.#state;
    if (state.kind === 'closed' || this.nextProbeMs > nowMs) return undefined;
    const { round } = state;
    const probe = this.#choose(state, nowMs);
    if (probe === undefined) {
      round.left = 0;
      this.#endRound(state, nowMs);
      return undefined;
    }
    round.left -= 1;
    round.made += 1;
    round.underWay.add(probe);
    return probe;
  }

  /** The request is over, or nobody waits for it any more. Does nothing unless it is a probe of the current round. */
  probeEnded(inFlight: InFlightRequest, nowMs: number): void {
    const state = this.#state;
    if (state.kind === 'open' && state.round.underWay.delete(inFlight)) this.#endRound(state, nowMs);
  }

  /** The service answered. @param isGood whether asking for the same again shows that the service is up */
  succeeded({ kind, request }: InFlightRequest, isGood: boolean): void {
    this.#state = { kind: 'closed', failing: new Set() };
    if (isGood && kind !== 'health-check' && this.#archived.length < mostArchived) this.#archived.push(request);
  }

  /**
   * @param lasting why asking again hardly helps, if that is known
   * @param unfinished clusters with something left to do, this one included
   */
  failed({ request }: TaskRequest, lasting: string | undefined, unfinished: number, nowMs: number): void {
    const state = this.#state;
    const { failing } = state;
    failing.add(request.cluster);
    if (state.kind === 'open') this.#state = { ...state, lasting };
    else if (failing.size >= Math.min(clustersToOpen, unfinished))
      this.#state = { kind: 'open', failing, failedRounds: 0, round: roundAfter(0, nowMs), lasting };
  }

  #choose({ failedRounds, round: { made } }: Open, nowMs: number): InFlightRequest | undefined {
    const isAllowed = ({ cluster }: ResourceRequest) => !this.#queue.isPaused(cluster, nowMs);
    const archived = this.#archived[failedRounds % this.#archived.length];
    if (archived !== undefined && made === 0 && isAllowed(archived)) return new HealthCheck(archived, nowMs);
    // A health check is all that the first round needs.
    if (made > 0 && archived !== undefined && failedRounds === 0) return undefined;
    const unasked = this.#nextUnasked();
    if (unasked !== undefined && isAllowed(unasked.request)) return new TaskRequest(unasked, 'probe', nowMs);
    const task = made < probesAgain ? this.#queue.longestWaiting(nowMs) : undefined;
    return task && new TaskRequest(task, 'probe', nowMs);
  }

  #endRound(state: Open, nowMs: number): void {
    const { left, underWay } = state.round;
    if (left > 0 || underWay.size > 0) return;
    const pauseMs = pausesMs[Math.min(state.failedRounds, pausesMs.length - 1)] ?? 0;
    const failedRounds = state.failedRounds + 1;
    // Half of the pause is random, so that collectors that failed together do not come back together.
    const startMs = nowMs + (pauseMs * (1 + this.#random())) / 2;
    this.#state = { ...state, failedRounds, round: roundAfter(failedRounds, startMs) };
  }
}

function roundAfter(failedRounds: number, startMs: number): ProbeRound {
  return { startMs, left: growth ** (failedRounds + 1), made: 0, underWay: new Set() };
}
