/** The key is suspected when so many different clusters were rejected and none was accepted. */
const clustersToSuspect = 5;

/** Clusters that are probed then: from the middle, the end and all over what is left. */
const probesToJudge = 5;

/**
 * Tells a rejected key from clusters that the key may not read. A rejected key ends the run, so that the service is not
 * asked in vain for every cluster. A rejection counts only if the key was read again after it and was the same.
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
    // The request is older than the last change: its rejection says nothing about the key in use.
    if (requestStartedMs < this.#sinceMs) return;
    this.#hasWorked = false;
    this.#sinceMs = nowMs;
    this.#clear();
  }

  /** @returns the number of the suspicion, for {@link probeEnded} */
  probeStarted(): number {
    this.#toProbe -= 1;
    this.#underWay += 1;
    return this.#suspicions;
  }

  /**
   * @param suspicion for which the probe started; it may be over
   * @param isRejected false: any other answer, or none; the suspicion is not confirmed
   */
  probeEnded(suspicion: number, isRejected: boolean): void {
    if (!this.#isSuspected || suspicion !== this.#suspicions) return;
    this.#underWay -= 1;
    if (!isRejected) this.#clear();
  }

  /** Nobody is left to probe. @param clusters number of all clusters: without probes, all of them must be rejected */
  noMoreProbes(clusters: number): void {
    this.#toProbe = 0;
    if (this.#underWay === 0 && this.#rejected.size < clusters) this.#isSuspected = false;
  }

  #clear(): void {
    this.#rejected.clear();
    this.#isSuspected = false;
  }
}
