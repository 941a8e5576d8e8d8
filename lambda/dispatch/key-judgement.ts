import { ProbeRound } from './circuit-breaker';

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
  #round: ProbeRound | undefined;

  /** @param hasWorked whether it did in an earlier attempt of the run */
  constructor(hasWorked: boolean) {
    this.#hasWorked = hasWorked;
  }

  /** The probes that decide now, and nothing else is asked; undefined: the key is not suspected. */
  get round(): ProbeRound | undefined {
    return this.#round;
  }

  /** Whether the key is rejected: for the clusters that raised the suspicion and for every probe. */
  get isRejected(): boolean {
    return this.#round?.isOver === true;
  }

  get rejectedClusters(): number {
    return this.#rejected.size;
  }

  accepted(requestStartedMs: number): void {
    if (requestStartedMs < this.#sinceMs) return;
    this.#hasWorked = true;
    this.#clear();
  }

  rejected(cluster: string, nowMs: number): void {
    if (this.#hasWorked) return;
    this.#rejected.add(cluster);
    if (this.#rejected.size >= clustersToSuspect) this.#round ??= new ProbeRound(probesToJudge, nowMs);
  }

  /** After a rejection the secret had another key. */
  changed(requestStartedMs: number, nowMs: number): void {
    // The request is older than the last change: its rejection says nothing about the key in use.
    if (requestStartedMs < this.#sinceMs) return;
    this.#hasWorked = false;
    this.#sinceMs = nowMs;
    this.#clear();
  }

  /**
   * @param round of the probe; the suspicion may be over
   * @param isRejected false: any other answer, or none; the suspicion is not confirmed
   */
  probeEnded(round: ProbeRound, isRejected: boolean): void {
    round.underWay -= 1;
    if (round === this.#round && !isRejected) this.#clear();
  }

  /** Nobody is left to probe. @param clusters number of all clusters: without probes, all of them must be rejected */
  noMoreProbes(clusters: number): void {
    if (this.#round === undefined) return;
    this.#round.left = 0;
    if (this.#round.underWay === 0 && this.#rejected.size < clusters) this.#round = undefined;
  }

  #clear(): void {
    this.#rejected.clear();
    this.#round = undefined;
  }
}
