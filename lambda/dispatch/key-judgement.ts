import type { ClusterSample } from './cluster-sample';
import { InFlightRequest } from './in-flight-request';

/** The key is suspected when so many different clusters were rejected and none was accepted. */
const clustersToSuspect = 5;

/** Clusters that are probed then: from the middle, the end and all over what is left. */
const probesToJudge = 5;

/**
 * Tells a rejected key from clusters that the key may not read. A rejected key ends the run, so that the service is not
 * asked in vain for every cluster. A rejection counts only if the key was read again after it and was the same.
 */
export class KeyJudgement {
  readonly #sample: ClusterSample;
  readonly #rejected = new Set<string>();
  /** Whether the key has worked for anybody in this run. */
  #hasWorked: boolean;
  /** When the key was found changed: answers to earlier requests say nothing of the new one. */
  #sinceMs = Number.NEGATIVE_INFINITY;
  /** Probes under way, and those that were made, since the key is suspected. */
  readonly #probes = new Set<InFlightRequest>();
  #made = 0;

  /** @param hasWorked whether it did in an earlier attempt of the run */
  constructor(sample: ClusterSample, hasWorked: boolean) {
    this.#sample = sample;
    this.#hasWorked = hasWorked;
  }

  /** Whether probes decide now, and nothing else is asked. */
  get isProbing(): boolean {
    return this.#isSuspected && (this.#probes.size > 0 || this.#mayProbe);
  }

  /** Why the attempt has to end, in words: the clusters that raised the suspicion and every probe were rejected. */
  get rejection(): string | undefined {
    if (!this.#isSuspected || this.isProbing) return undefined;
    // Where nobody was left to probe, all clusters must be rejected.
    if (this.#made === 0 && this.#rejected.size < this.#sample.size) return undefined;
    return `the service rejected the API key for ${this.#rejected.size} different clusters from all over the list, also after it was read again; set a valid key and complete the run`;
  }

  /** @returns the probe to make now, if there is one */
  probe(nowMs: number): InFlightRequest | undefined {
    const task = this.#mayProbe ? this.#sample.unasked() : undefined;
    if (task === undefined) return undefined;
    const inFlight = new InFlightRequest(task.request, task, 'regular', nowMs);
    this.#probes.add(inFlight);
    this.#made += 1;
    return inFlight;
  }

  accepted({ startedMs }: InFlightRequest): void {
    if (startedMs < this.#sinceMs) return;
    this.#hasWorked = true;
    this.#clear();
  }

  /** The key was rejected, and was the same when it was read again. */
  rejected(inFlight: InFlightRequest): void {
    this.#probes.delete(inFlight);
    if (!this.#hasWorked) this.#rejected.add(inFlight.request.cluster);
  }

  /** After a rejection the secret had another key. */
  changed({ startedMs }: InFlightRequest, nowMs: number): void {
    // The request is older than the last change: its rejection says nothing about the key in use.
    if (startedMs < this.#sinceMs) return;
    this.#hasWorked = false;
    this.#sinceMs = nowMs;
    this.#clear();
  }

  /** The request has ended otherwise, or nobody waits for it any more. If it is a probe, the suspicion is not confirmed. */
  probeEnded(inFlight: InFlightRequest): void {
    if (this.#probes.delete(inFlight)) this.#clear();
  }

  get #isSuspected(): boolean {
    return this.#rejected.size >= clustersToSuspect;
  }

  get #mayProbe(): boolean {
    return this.#made < probesToJudge && this.#sample.hasUnasked;
  }

  #clear(): void {
    this.#rejected.clear();
    this.#probes.clear();
    this.#made = 0;
  }
}
