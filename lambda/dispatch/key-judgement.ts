/** Different rejected clusters, none accepted, that raise the suspicion. */
const clustersToSuspect = 5;

/** Clusters that are asked next: from the middle, the end and all over what is left. */
const probesToJudge = 5;

/**
 * Tells a rejected key, which ends the run rather than hammering the service with every cluster, from clusters that the
 * key may not read. Only rejections count after which the key was read again and was the same.
 */
export class KeyJudgement {
  readonly #rejected = new Set<string>();
  /** Whether the key has worked for anybody in this run. */
  #hasWorked: boolean;
  /** When the key was found changed: answers to earlier requests say nothing of the new one. */
  #sinceMs = Number.NEGATIVE_INFINITY;
  #isSuspected = false;
  #toProbe = 0;
  #underWay = 0;
  #suspicions = 0;

  /** @param hasWorked whether it did in an earlier attempt of the run */
  constructor(hasWorked: boolean) {
    this.#hasWorked = hasWorked;
  }

  /** Whether probes decide now, and nothing else is asked. */
  get isSuspected(): boolean {
    return this.#isSuspected;
  }

  get mayProbe(): boolean {
    return this.#isSuspected && this.#toProbe > 0;
  }

  /** Whether the key is rejected: for the clusters that raised the suspicion and for every probe. */
  get isRejected(): boolean {
    return this.#isSuspected && this.#toProbe === 0 && this.#underWay === 0;
  }

  get rejectedClusters(): number {
    return this.#rejected.size;
  }

  accepted(requestStartedMs: number): void {
    if (requestStartedMs < this.#sinceMs) return;
    this.#hasWorked = true;
    this.#clear();
  }

  rejected(cluster: string): void {
    if (this.#hasWorked) return;
    this.#rejected.add(cluster);
    if (this.#isSuspected || this.#rejected.size < clustersToSuspect) return;
    this.#isSuspected = true;
    this.#suspicions += 1;
    this.#toProbe = probesToJudge;
    this.#underWay = 0;
  }

  /** After a rejection the secret had another key. */
  changed(requestStartedMs: number, nowMs: number): void {
    // A request of before the last change: that it was rejected is no news of the key in use.
    if (requestStartedMs < this.#sinceMs) return;
    this.#hasWorked = false;
    this.#sinceMs = nowMs;
    this.#clear();
  }

  /** @returns what {@link probeEnded} is to be given */
  probeStarted(): number {
    this.#toProbe -= 1;
    this.#underWay += 1;
    return this.#suspicions;
  }

  /**
   * @param suspicion for which the probe started; it may be over
   * @param isRejected false: it was answered otherwise, or not at all, and the suspicion is not confirmed
   */
  probeEnded(suspicion: number, isRejected: boolean): void {
    if (!this.#isSuspected || suspicion !== this.#suspicions) return;
    this.#underWay -= 1;
    if (!isRejected) this.#clear();
  }

  /** Nobody is left to be probed. @param clusters in all: without a probe only the rejection of each of them is proof */
  noMoreProbes(clusters: number): void {
    this.#toProbe = 0;
    if (this.#underWay === 0 && this.#rejected.size < clusters) this.#isSuspected = false;
  }

  #clear(): void {
    this.#rejected.clear();
    this.#isSuspected = false;
  }
}
