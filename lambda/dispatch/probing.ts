import type { ResourceRequest } from '../service/resource-request';
import { unansweredReasons } from '../stack-contract';
import type { CircuitBreaker, ProbeRound } from './circuit-breaker';
import type { ClusterSample } from './cluster-sample';
import { InFlightRequest } from './in-flight-request';
import type { KeyJudgement } from './key-judgement';

/** Rounds of probes without an answer before an attempt may end early: about three seconds. */
const roundsToEnd = 4;

/** Probes of a round that ask again, once every cluster was asked. */
const probesAgain = 4;

/** Most archived resources that are remembered. Asking for one again shows whether the service is up. */
const mostHealthChecks = 100;

/** Nothing more is to be asked in this attempt. */
export interface EarlyEnd {
  readonly kind: 'end';
  readonly why: 'service-down' | 'key-rejected';
  readonly reason: string;
}

/** Chooses the probes. While the service looks down, or the key looks rejected, nothing else is asked. */
export class Probing {
  readonly #sample: ClusterSample;
  readonly #breaker: CircuitBreaker;
  readonly #key: KeyJudgement;
  readonly #healthChecks: ResourceRequest[];
  readonly #endsEarly: boolean;
  /** What the last failure says is wrong with the address or the certificate. */
  #lasting: string | undefined;

  /**
   * @param archived what earlier attempts of the run have archived
   * @param endsEarly whether the attempt ends while the service is down, because another one follows within minutes
   */
  constructor(
    sample: ClusterSample,
    breaker: CircuitBreaker,
    key: KeyJudgement,
    archived: readonly ResourceRequest[],
    endsEarly: boolean,
  ) {
    this.#sample = sample;
    this.#breaker = breaker;
    this.#key = key;
    this.#healthChecks = archived.slice(-mostHealthChecks);
    this.#endsEarly = endsEarly;
  }

  get isActive(): boolean {
    return this.#round !== undefined;
  }

  get #round(): ProbeRound | undefined {
    return this.#breaker.round ?? this.#key.round;
  }

  /** When the next probe may start, in milliseconds; Infinity while probes are waited for. */
  get nextMs(): number {
    const { left = 0, startMs = 0 } = this.#breaker.round ?? {};
    return left > 0 ? startMs : Number.POSITIVE_INFINITY;
  }

  /** @returns the probe to make now, if there is one */
  next(nowMs: number): InFlightRequest | undefined {
    const round = this.#round;
    if (round === undefined || round.left === 0 || round.startMs > nowMs) return undefined;
    const inFlight = round === this.#breaker.round ? this.#probeService(round, nowMs) : this.#probeKey(nowMs);
    if (inFlight === undefined) return undefined;
    round.probeStarted();
    inFlight.round = round;
    return inFlight;
  }

  /** A good answer came. */
  succeeded(inFlight: InFlightRequest): void {
    this.#key.accepted(inFlight.startedMs);
    this.#breaker.succeeded(inFlight.request.cluster);
    if (inFlight.task !== undefined && this.#healthChecks.length < mostHealthChecks)
      this.#healthChecks.push(inFlight.request);
  }

  /**
   * @param lasting why asking again hardly helps, if that is known
   * @param unfinished clusters with something left to do, this one included
   */
  unanswered(inFlight: InFlightRequest, lasting: string | undefined, unfinished: number, nowMs: number): void {
    this.#lasting = lasting;
    if (inFlight.task !== undefined) this.#breaker.failed(inFlight.request.cluster, unfinished, nowMs);
  }

  /** The key was rejected for the request's cluster, and was the same when it was read again. */
  keyRejected(inFlight: InFlightRequest, nowMs: number): void {
    this.#key.rejected(inFlight.request.cluster, nowMs);
    if (!this.#sample.hasUnasked) this.#key.noMoreProbes(this.#sample.size);
  }

  /** The request is over, or nobody waits for it any more. Does nothing unless it is a probe. */
  ended(inFlight: InFlightRequest, nowMs: number, isKeyRejected = false): void {
    const { round } = inFlight;
    if (round === undefined) return;
    inFlight.round = undefined;
    if (inFlight.kind === 'probe') this.#breaker.probeEnded(round, nowMs);
    else this.#key.probeEnded(round, isKeyRejected);
  }

  /** @returns why the attempt has to end now; undefined: it goes on */
  end(): EarlyEnd | undefined {
    if (this.#key.isRejected) {
      const reason = `the service rejected the API key for ${this.#key.rejectedClusters} different clusters from all over the list, also after it was read again; set a valid key and complete the run`;
      return { kind: 'end', why: 'key-rejected', reason };
    }
    const { failedRounds, failingClusters } = this.#breaker;
    if (!this.#endsEarly || failedRounds < roundsToEnd || this.#sample.hasUnasked) return undefined;
    const clusters = failingClusters === 1 ? 'the only cluster left' : `${failingClusters} different clusters in a row`;
    const reason =
      this.#lasting === undefined
        ? `${unansweredReasons.down}: no usable answer for ${clusters}; ask again in a few minutes`
        : `${unansweredReasons.unreachable}: ${this.#lasting}`;
    return { kind: 'end', why: 'service-down', reason };
  }

  #probeService(round: ProbeRound, nowMs: number): InFlightRequest | undefined {
    const { failedRounds } = this.#breaker;
    const healthCheck = this.#healthChecks[failedRounds % this.#healthChecks.length];
    if (healthCheck !== undefined && round.made === 0)
      return new InFlightRequest(healthCheck, undefined, 'probe', nowMs);
    // A health check is all that the first round needs.
    const isEnough = healthCheck !== undefined && failedRounds === 0;
    const again = () => (round.made < probesAgain ? this.#sample.again(nowMs) : undefined);
    const task = isEnough ? undefined : (this.#sample.unasked() ?? again());
    if (task !== undefined) return new InFlightRequest(task.request, task, 'probe', nowMs);
    this.#breaker.noMoreProbes(round, nowMs);
    return undefined;
  }

  #probeKey(nowMs: number): InFlightRequest | undefined {
    const task = this.#sample.unasked();
    if (task !== undefined) return new InFlightRequest(task.request, task, 'key-probe', nowMs);
    this.#key.noMoreProbes(this.#sample.size);
    return undefined;
  }
}
