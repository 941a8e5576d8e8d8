import { type Rank, ranks, type Task } from './task';

/** The tasks that wait, in the order in which they are asked for. Concurrency is the workers' business. */
export class FairQueue {
  readonly #lanes: Lane[] = Object.values(ranks).map(() => ({ entries: [], from: 0 }));
  /** The earliest last. */
  readonly #delayed: Waiting[] = [];
  /** In the order in which they began to wait. An entry of a lane or of the delayed ones that is not here has left the queue. */
  readonly #waiting = new Map<Task, Waiting>();
  /** When a cluster may be asked for something again, where the service itself asked for the delay (Retry-After). */
  readonly #pausedUntilMs = new Map<string, number>();

  /**
   * @param dueMs not asked for before; left out: at any time
   * @param notBeforeMs not asked for before even by a probe, because the service itself asked for the delay
   */
  add(task: Task, rank: Rank, dueMs = 0, notBeforeMs = 0): void {
    const entry = { task, rank, dueMs, notBeforeMs };
    this.#waiting.set(task, entry);
    if (dueMs > 0) this.#delay(entry);
    else this.#lanes[rank]?.entries.push(entry);
  }

  /** The task whose turn it is; it stays in the queue until {@link take}. */
  first(nowMs: number): Task | undefined {
    while (this.nextDueMs <= nowMs) {
      const entry = this.#delayed.pop();
      if (entry !== undefined) this.add(entry.task, entry.rank);
    }
    for (const lane of this.#lanes)
      for (let entry = lane.entries[lane.from]; entry; entry = lane.entries[lane.from]) {
        const { task, rank } = entry;
        if (this.#isHere(entry)) {
          const pauseEndMs = this.#pauseEndMs(task);
          if (pauseEndMs <= nowMs) return task;
          this.add(task, rank, pauseEndMs, pauseEndMs);
        }
        lane.from += 1;
      }
    return undefined;
  }

  /**
   * The task to probe with when each was asked for: whatever its rank and its own delay, the tasks take turns. Those of
   * clusters that are leaving take theirs behind the others.
   */
  longestWaiting(nowMs: number): Task | undefined {
    let last: Task | undefined;
    for (const { task, rank, notBeforeMs } of this.#waiting.values()) {
      if (Math.max(notBeforeMs, this.#pauseEndMs(task)) > nowMs) continue;
      if (rank !== ranks.leaving) return task;
      last ??= task;
    }
    return last;
  }

  /** Takes any waiting task out of the queue. */
  take(task: Task): void {
    this.#waiting.delete(task);
  }

  /** Nothing of the cluster is asked for until then. */
  pause(cluster: string, untilMs: number): void {
    this.#pausedUntilMs.set(cluster, untilMs);
  }

  isPaused(cluster: string, nowMs: number): boolean {
    return (this.#pausedUntilMs.get(cluster) ?? 0) > nowMs;
  }

  /** When the next delayed task is due, in milliseconds; Infinity if no task is delayed. */
  get nextDueMs(): number {
    for (let next = this.#delayed.at(-1); next; next = this.#delayed.at(-1)) {
      if (this.#isHere(next)) return next.dueMs;
      this.#delayed.pop();
    }
    return Number.POSITIVE_INFINITY;
  }

  #isHere(entry: Waiting): boolean {
    return this.#waiting.get(entry.task) === entry;
  }

  #pauseEndMs({ request }: Task): number {
    return this.#pausedUntilMs.get(request.cluster) ?? 0;
  }

  #delay(entry: Waiting): void {
    // Most delays end last of all: they are found at once.
    const earlier = this.#delayed.findIndex(({ dueMs }) => dueMs <= entry.dueMs);
    this.#delayed.splice(earlier < 0 ? this.#delayed.length : earlier, 0, entry);
  }
}

/** A task, and what it waits for. */
interface Waiting {
  readonly task: Task;
  readonly rank: Rank;
  /** Earliest time of the next request; 0: any time. */
  readonly dueMs: number;
  /** Earliest time of a probe; 0: any time. */
  readonly notBeforeMs: number;
}

interface Lane {
  readonly entries: Waiting[];
  /** Entries before this index have left the lane. */
  from: number;
}
