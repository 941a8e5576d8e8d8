import { type Rank, ranks, type Task } from './task';

/** The tasks that wait, in the order in which they are asked for. Decides nothing about how many at once. */
export class FairQueue {
  readonly #lanes: Lane[] = Object.values(ranks).map(() => ({ tasks: [], from: 0 }));
  /** The earliest last. */
  readonly #delayed: Task[] = [];
  readonly #waiting = new Map<Task, Waiting>();

  /** @param dueMs not asked for before; left out: at any time */
  add(task: Task, rank: Rank, dueMs = 0): void {
    this.#waiting.set(task, { rank, dueMs });
    if (dueMs > 0) this.#delay(task, dueMs);
    else this.#lanes[rank]?.tasks.push(task);
  }

  /** Undefined: the task does not wait. */
  rankOf(task: Task): Rank | undefined {
    return this.#waiting.get(task)?.rank;
  }

  /** The task whose turn it is; it stays in the queue until {@link take}. */
  first(nowMs: number): Task | undefined {
    while (this.nextDueMs <= nowMs) {
      const task = this.#delayed.pop();
      const rank = task && this.rankOf(task);
      if (task !== undefined && rank !== undefined) this.add(task, rank);
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

  /** Takes any waiting task out of the queue. */
  take(task: Task): void {
    const at = this.#dueMs(task) > 0 ? this.#delayed.indexOf(task) : -1;
    if (at !== -1) this.#delayed.splice(at, 1);
    this.#waiting.delete(task);
  }

  /** When the next delayed task is due, in milliseconds; Infinity if there is none. */
  get nextDueMs(): number {
    const next = this.#delayed.at(-1);
    return next === undefined ? Number.POSITIVE_INFINITY : this.#dueMs(next);
  }

  #dueMs(task: Task): number {
    return this.#waiting.get(task)?.dueMs ?? 0;
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
    const { cluster } = task;
    if (cluster.pausedUntilMs > nowMs) this.add(task, rank, cluster.pausedUntilMs);
    else if (cluster.isUnanswered && (rank === ranks.unattempted || rank === ranks.failedEarlier))
      this.add(task, ranks.doubtful);
    else return false;
    return true;
  }
}

/** What a task waits for. */
interface Waiting {
  readonly rank: Rank;
  /** Earliest time of the next request; 0: any time. */
  readonly dueMs: number;
}

interface Lane {
  readonly tasks: Task[];
  /** Tasks before this index have left the lane. */
  from: number;
}
