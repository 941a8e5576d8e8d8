import { RunStopped, type Stop } from '../stop';

/** Different clusters in a row that must be rejected, with no good answer between, before the key itself is blamed. */
export const rejectionsToStop = 5;

/**
 * Tells a rejected key, which ends the run rather than hammering the service with every cluster, from clusters that the
 * key may not read, which only fail themselves.
 */
export class RejectionGuard {
  readonly #stop: Stop;
  readonly #reporter: { keyRejected(): void };
  readonly #clusters = new Set<string>();

  constructor(stop: Stop, reporter: { keyRejected(): void }) {
    this.#stop = stop;
    this.#reporter = reporter;
  }

  /** The service answered 200. */
  accepted(): void {
    if (this.#clusters.size < rejectionsToStop) this.#clusters.clear();
  }

  /** The service answered 401 or 403 for a cluster although the key had been read again. */
  rejected(cluster: string): void {
    this.#clusters.add(cluster);
    if (this.#clusters.size < rejectionsToStop) return;
    const reason = `the service rejected the API key for ${rejectionsToStop} different clusters in a row, also after it was read again; set a valid key and complete the run`;
    this.#stop.startNothing(new RunStopped(reason));
    this.#reporter.keyRejected();
  }
}
