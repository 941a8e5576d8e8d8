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
  #isOpen = false;
  #failedRounds = 0;
  /** The current round: when it begins; its probes that are still to be made, were made, and are under way. */
  #roundMs = 0;
  #left = 0;
  #made = 0;
  #underWay = 0;
  #openings = 0;

  /** @param random uniform in [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Rounds of probes without an answer since the breaker opened. */
  get failedRounds(): number {
    return this.#failedRounds;
  }

  /** Different clusters that failed since the last answer. */
  get failingClusters(): number {
    return this.#failing.size;
  }

  /** Probes that the current round has made. */
  get probesMade(): number {
    return this.#made;
  }

  /** When the next probe may start, in milliseconds; Infinity while the round waits for its probes. */
  get nextProbeMs(): number {
    return this.#isOpen && this.#left > 0 ? this.#roundMs : Number.POSITIVE_INFINITY;
  }

  /** The service answered. */
  succeeded(cluster: string): void {
    this.#bad.delete(cluster);
    this.#failing.delete(cluster);
    // An answer in the first round: the service was up while those clusters failed. Later: it was down for everybody.
    if (this.#isOpen && this.#failedRounds === 0) for (const failing of this.#failing) this.#bad.add(failing);
    this.#failing.clear();
    this.#isOpen = false;
    this.#failedRounds = 0;
  }

  /** @param unfinished clusters with something left to do, this one included */
  failed(cluster: string, unfinished: number, nowMs: number): void {
    if (this.#bad.has(cluster)) return;
    this.#failing.add(cluster);
    if (this.#isOpen || this.#failing.size < Math.min(clustersToOpen, unfinished - this.#bad.size)) return;
    this.#isOpen = true;
    this.#openings += 1;
    this.#beginRound(nowMs);
  }

  /** Nothing is left to do for the cluster. */
  finished(cluster: string): void {
    this.#bad.delete(cluster);
    this.#failing.delete(cluster);
  }

  /** @returns the number of the opening, for {@link probeEnded} */
  probeStarted(): number {
    this.#left -= 1;
    this.#made += 1;
    this.#underWay += 1;
    return this.#openings;
  }

  /** @param opening in which the probe started; the breaker may have closed since */
  probeEnded(opening: number, nowMs: number): void {
    if (!this.#isOpen || opening !== this.#openings) return;
    this.#underWay -= 1;
    this.#endRound(nowMs);
  }

  /** There is nobody left to probe in this round. */
  noMoreProbes(nowMs: number): void {
    this.#left = 0;
    this.#endRound(nowMs);
  }

  #endRound(nowMs: number): void {
    if (this.#left > 0 || this.#underWay > 0) return;
    const pauseMs = pausesMs[Math.min(this.#failedRounds, pausesMs.length - 1)] ?? 0;
    this.#failedRounds += 1;
    // Half of the pause is random, so that collectors that failed together do not come back together.
    this.#beginRound(nowMs + (pauseMs * (1 + this.#random())) / 2);
  }

  #beginRound(roundMs: number): void {
    this.#roundMs = roundMs;
    this.#left = growth ** (this.#failedRounds + 1);
    this.#made = 0;
    this.#underWay = 0;
  }
}
