/** So many different clusters must be rejected in a row; in a smaller fleet, all of them. */
const clustersToReject = 10;

/** In a fleet of fewer clusters each is judged on its own. */
const fewestClusters = 5;

/**
 * Tells a rejected key from clusters that the key may not read. A rejected key ends the run, so that the service is not
 * asked in vain for every cluster. A rejection counts only if the key was read again after it and was the same. The
 * clusters are asked for in shuffled order: so many in a row are a sample of the fleet.
 */
export class KeyJudgement {
  readonly #needed: number;
  readonly #rejected = new Set<string>();
  /** Whether a key has worked for anybody in this run. */
  #hasWorked: boolean;

  /**
   * @param clusters with something to archive
   * @param hasWorked whether a key did in an earlier attempt of the run
   */
  constructor(clusters: number, hasWorked: boolean) {
    this.#needed = Math.min(clustersToReject, Math.max(fewestClusters, clusters));
    this.#hasWorked = hasWorked;
  }

  /** Whether enough were rejected: nothing new is asked for until all requests under way have ended the same way. */
  get isSuspected(): boolean {
    return this.#rejected.size >= this.#needed;
  }

  /** Why the attempt has to end, in words, once the key is suspected and nothing is under way. */
  get reason(): string {
    return `the service rejected the API key for ${this.#rejected.size} different clusters in a row, also after it was read again; set a valid key and complete the run`;
  }

  /** The service has answered well. */
  accepted(): void {
    this.#hasWorked = true;
    this.#rejected.clear();
  }

  /** The key was rejected, and was the same when it was read again. */
  rejected(cluster: string): void {
    if (!this.#hasWorked) this.#rejected.add(cluster);
  }

  /** A request has ended in another way, or the secret has another key: the row is broken. */
  endedOtherwise(): void {
    this.#rejected.clear();
  }
}
