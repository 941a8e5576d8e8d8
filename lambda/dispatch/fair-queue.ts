import { type Rank, ranks, type Task } from './task';

/** The tasks that wait, in the order in which they are asked for. Concurrency is the workers' business. */
export class FairQueue {
  readonly #lanes: Lane[] = Object.values(ranks).map(() => ({ tasks: [], from: 0 }));
  /** The earliest last. */
  readonly #delayed: Task[] = [];
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<Task, Waiting>();
  /** Clusters whose last request ended without an answer or with a server error (5xx). */
  readonly #unanswered = new Set<string>();
  /** When a cluster may be asked for something again, where the service itself asked for the delay (Retry-After). */
  readonly #pausedUntilMs = new Map<string, number>();

  /**
   * @param dueMs not asked for before; left out: at any time
   * @param notBeforeMs not asked for before even by a probe, because the service itself asked for the delay
   */
  add(task: Task, rank: Rank, dueMs = 0, notBeforeMs = 0): void {
    this.#waiting.set(task, { rank, dueMs, notBeforeMs });
    if (dueMs > 0) this.#delay(task, dueMs);
    else this.#lanes[rank]?.tasks.push(task);
  }

  /** The task whose turn it is; it stays in the queue until {@link take}. */
  first(nowMs: number): Task | undefined {
    while (this.nextDueMs <= nowMs) {
      const task = this.#delayed.pop();
      const waiting = task && this.#waiting.get(task);
      if (task !== undefined && waiting !== undefined) this.add(task, waiting.rank);
    }
    for (const [rank, lane] of this.#lanes.entries()) {
      for (let task = lane.tasks[lane.from]; task; task = lane.tasks[lane.from]) {
        const waiting = this.#waiting.get(task);
        const isHere = waiting?.rank === rank && waiting.dueMs === 0;
        if (isHere && !this.#defer(task, waiting.rank, nowMs)) return task;
        lane.from += 1;
      }
    }
    return undefined;
  }

  /** The task to probe with when each was asked for: whatever its rank and its own delay, the tasks take turns. */
  longestWaiting(nowMs: number): Task | undefined {
    for (const task of this.#waiting.keys()) if (this.#mayBeProbed(task, nowMs)) return task;
    return undefined;
  }

  /** Takes any waiting task out of the queue. */
  take(task: Task): void {
    const at = this.#dueMs(task) > 0 ? this.#delayed.indexOf(task) : -1;
    if (at !== -1) this.#delayed.splice(at, 1);
    this.#waiting.delete(task);
  }

  /** @param isAnswered whether the last request for the cluster brought an answer, if only an error that is not the server's */
  answered(cluster: string, isAnswered: boolean): void {
    if (isAnswered) this.#unanswered.delete(cluster);
    else this.#unanswered.add(cluster);
  }

  /** Nothing of the cluster is asked for until then. */
  pause(cluster: string, untilMs: number): void {
    this.#pausedUntilMs.set(cluster, untilMs);
  }

  /** When the next delayed task is due, in milliseconds; Infinity if there is none. */
  get nextDueMs(): number {
    const next = this.#delayed.at(-1);
    return next === undefined ? Number.POSITIVE_INFINITY : this.#dueMs(next);
  }

  #dueMs(task: Task): number {
    return this.#waiting.get(task)?.dueMs ?? 0;
  }

  #mayBeProbed(task: Task, nowMs: number): boolean {
    const notBeforeMs = this.#waiting.get(task)?.notBeforeMs ?? Number.POSITIVE_INFINITY;
    return Math.max(notBeforeMs, this.#pauseEndMs(task)) <= nowMs;
  }

  #pauseEndMs({ request }: Task): number {
    return this.#pausedUntilMs.get(request.cluster) ?? 0;
  }

  #delay(task: Task, dueMs: number): void {
    let [from, to] = [0, this.#delayed.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#delayed[middle];
      if (other !== undefined && this.#dueMs(other) > dueMs) from = middle + 1;
      else to = middle;
    }
    this.#delayed.splice(from, 0, task);
  }

  /** Moves a task whose cluster has to wait to where it belongs now. @returns whether it was moved */
  #defer(task: Task, rank: Rank, nowMs: number): boolean {
    const pauseEndMs = this.#pauseEndMs(task);
    const isNew = rank === ranks.unattempted || rank === ranks.failedEarlier;
    if (pauseEndMs > nowMs) this.add(task, rank, pauseEndMs, pauseEndMs);
    else if (isNew && this.#unanswered.has(task.request.cluster)) this.add(task, ranks.doubtful);
    else return false;
    return true;
  }
}

/** What a task waits for. */
interface Waiting {
  readonly rank: Rank;
  /** Earliest time of the next request; 0: any time. */
  readonly dueMs: number;
  /** Earliest time of a probe; 0: any time. */
  readonly notBeforeMs: number;
}

interface Lane {
  readonly tasks: Task[];
  /** Tasks before this index have left the lane. */
  from: number;
}
