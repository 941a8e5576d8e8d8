/** Different clusters in a row without an answer that open the breaker; a smaller fleet needs no more than it has. */
const clustersToOpen = 10;

/** Probes of the first round, and how many times as many each round has as the one before. */
const growth = 4;

/** Pauses before the second and each further round, in milliseconds; the last one is repeated. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 15_000, 30_000] as const;

/**
 * Tells a service that is down from clusters that fail on their own. Closed: everything may be asked. Open: rounds of
 * probes alone, a pause before each; one answer closes it. A cluster fails here if its request ends without any answer or
 * with a server error (5xx); every other answer shows that the service is up.
 */
export class CircuitBreaker {
  readonly #random: () => number;
  /** Clusters that failed since the last answer. */
  readonly #failing = new Set<string>();
  /** Clusters that failed while the service answered others: no evidence until they are answered. */
  readonly #bad = new Set<string>();
  #isOpen = false;
  #failedRounds = 0;
  /** Of the current round: when it begins, probes that it may still make, has made, and waits for. */
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
    // Answered at once: the service was up while those clusters failed. Answered later: it was down for everybody.
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

  /** @returns what {@link probeEnded} is to be given */
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
