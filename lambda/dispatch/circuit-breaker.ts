/** So many different clusters must fail in a row to open the breaker; in a smaller fleet, all of them. */
const clustersToOpen = 10;

/** Probes of the first round. Each further round has this many times the probes of the round before. */
const growth = 4;

/** Pauses before the second and each further round, in milliseconds; the last one is repeated. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000] as const;

/**
 * Tells a service that is down from clusters that fail on their own. Closed: everything may be asked. Open: only probes
 * are made, in rounds with a pause between them; one answer closes it. A cluster fails here if its request ends without
 * any answer or with a server error (5xx); every other answer shows that the service is up.
 */
export class CircuitBreaker {
  readonly #random: () => number;
  /** Clusters that failed since the last answer. */
  readonly #failing = new Set<string>();
  /** Clusters that failed while the service answered others. Their failures count again once they are answered. */
  readonly #bad = new Set<string>();
  #round: ProbeRound | undefined;
  #failedRounds = 0;

  /** @param random uniform in [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The probes that may be made while it is open; undefined: it is closed. */
  get round(): ProbeRound | undefined {
    return this.#round;
  }

  /** Rounds of probes without an answer since the breaker opened. */
  get failedRounds(): number {
    return this.#failedRounds;
  }

  /** Different clusters that failed since the last answer. */
  get failingClusters(): number {
    return this.#failing.size;
  }

  /** The service answered. */
  succeeded(cluster: string): void {
    this.#bad.delete(cluster);
    this.#failing.delete(cluster);
    // An answer in the first round: the service was up while those clusters failed. Later: it was down for everybody.
    if (this.#round && this.#failedRounds === 0) for (const failing of this.#failing) this.#bad.add(failing);
    this.#failing.clear();
    this.#round = undefined;
    this.#failedRounds = 0;
  }

  /** @param unfinished clusters with something left to do, this one included */
  failed(cluster: string, unfinished: number, nowMs: number): void {
    if (this.#bad.has(cluster)) return;
    this.#failing.add(cluster);
    if (this.#round || this.#failing.size < Math.min(clustersToOpen, unfinished - this.#bad.size)) return;
    this.#beginRound(nowMs);
  }

  /** Nothing is left to do for the cluster. */
  finished(cluster: string): void {
    this.#bad.delete(cluster);
    this.#failing.delete(cluster);
  }

  /** @param round of the probe; the breaker may have closed since */
  probeEnded(round: ProbeRound, nowMs: number): void {
    round.underWay -= 1;
    if (round === this.#round) this.#endRound(round, nowMs);
  }

  /** There is nobody left to probe in this round. */
  noMoreProbes(round: ProbeRound, nowMs: number): void {
    round.left = 0;
    this.#endRound(round, nowMs);
  }

  #endRound({ isOver }: ProbeRound, nowMs: number): void {
    if (!isOver) return;
    const pauseMs = pausesMs[Math.min(this.#failedRounds, pausesMs.length - 1)] ?? 0;
    this.#failedRounds += 1;
    // Half of the pause is random, so that collectors that failed together do not come back together.
    this.#beginRound(nowMs + (pauseMs * (1 + this.#random())) / 2);
  }

  #beginRound(startMs: number): void {
    this.#round = new ProbeRound(growth ** (this.#failedRounds + 1), startMs);
  }
}

/** Probes that are made together, and judged once all of them are over. */
export class ProbeRound {
  /** When the first may start, in milliseconds. */
  readonly startMs: number;
  /** Probes that are still to be made. */
  left: number;
  made = 0;
  underWay = 0;

  constructor(probes: number, startMs: number) {
    this.left = probes;
    this.startMs = startMs;
  }

  get isOver(): boolean {
    return this.left === 0 && this.underWay === 0;
  }

  probeStarted(): void {
    this.left -= 1;
    this.made += 1;
    this.underWay += 1;
  }
}
