import type { FairQueue } from './fair-queue';
import { type Cluster, ranks, type Task } from './task';

/**
 * Picks waiting tasks from all over the list for probes: its middle, its end, then ever finer between. What is true there
 * is true of the service or of the key, and not of a few neighbours.
 */
export class ClusterSample {
  readonly #clusters: readonly Cluster[];
  readonly #queue: FairQueue;
  #unaskedFrom = 0;
  #againFrom = 0;
  #picked = 0;

  /**
   * @param clusters those with a task that was never attempted are picked first
   * @param queue where their tasks wait
   */
  constructor(clusters: readonly Cluster[], queue: FairQueue) {
    this.#queue = queue;
    const isNew = ({ tasks }: Cluster) => tasks.some((task) => queue.rankOf(task) === ranks.unattempted);
    const isOld = (cluster: Cluster) => !isNew(cluster);
    this.#clusters = [...spread(clusters.filter(isNew)), ...spread(clusters.filter(isOld))];
  }

  /** Clusters in all. */
  get size(): number {
    return this.#clusters.length;
  }

  /** Whether there is a cluster that was not asked for anything yet. */
  get hasUnasked(): boolean {
    while (this.#clusters[this.#unaskedFrom]?.isAsked) this.#unaskedFrom += 1;
    return this.#unaskedFrom < this.#clusters.length;
  }

  /** A task of a cluster that was not asked for anything yet. The resources take turns. */
  unasked(): Task | undefined {
    if (!this.hasUnasked) return undefined;
    const tasks = this.#clusters[this.#unaskedFrom]?.tasks ?? [];
    this.#picked += 1;
    return tasks[this.#picked % tasks.length];
  }

  /** A waiting task, asked for before or not. The clusters take turns. */
  again(nowMs: number): Task | undefined {
    const mayBeAsked = (task: Task) => this.#queue.rankOf(task) !== undefined && task.retryAfterMs <= nowMs;
    for (let tried = 0; tried < this.#clusters.length; tried += 1) {
      const cluster = this.#clusters[this.#againFrom % this.#clusters.length];
      this.#againFrom += 1;
      if (cluster === undefined || cluster.pausedUntilMs > nowMs) continue;
      const [task] = cluster.tasks.filter(mayBeAsked).sort((a, b) => a.requests - b.requests);
      if (task !== undefined) return task;
    }
    return undefined;
  }
}

/** The same items in another order: middle, end, then the middles of what lies between (van der Corput's sequence). */
function spread<Item>(items: readonly Item[]): Item[] {
  let fractions = [1 / 2, 0];
  for (let step = 1 / 4; fractions.length < items.length; step /= 2) {
    // The sequence begins with 0 and 1/2; counted from the list's end that is the end and the middle.
    const [half = 0, zero = 0, ...others] = fractions;
    fractions = [...fractions, ...[zero, half, ...others].map((fraction) => fraction + step)];
  }
  const places = new Set(fractions.map((fraction) => items.length - 1 - Math.floor(fraction * items.length)));
  return [...places].flatMap((place) => items.slice(place, place + 1));
}
