import { type Rank, ranks, type Task } from './task';

/** The tasks that wait, in the order in which they are asked for. Decides nothing about how many at once. */
export class FairQueue {
  readonly #lanes: Lane[] = Object.values(ranks).map(() => ({ tasks: [], from: 0 }));
  readonly #delayed = new DueHeap();

  /** @param dueMs not asked for before; left out: at any time */
  add(task: Task, rank: Rank, dueMs = 0): void {
    task.isWaiting = true;
    task.rank = rank;
    task.dueMs = dueMs;
    if (dueMs > 0) this.#delayed.push({ dueMs, task });
    else this.#lanes[rank]?.tasks.push(task);
  }

  /** The task whose turn it is; it stays in the queue until {@link take}. */
  first(nowMs: number): Task | undefined {
    for (let entry = this.#delayed.first; entry && entry.dueMs <= nowMs; entry = this.#delayed.first) {
      this.#delayed.pop();
      if (isCurrent(entry)) this.add(entry.task, entry.task.rank);
    }
    for (const [rank, lane] of this.#lanes.entries()) {
      for (let task = lane.tasks[lane.from]; task; task = lane.tasks[lane.from]) {
        if (task.isWaiting && task.rank === rank && task.dueMs === 0 && !this.#defer(task, nowMs)) return task;
        lane.from += 1;
      }
    }
    return undefined;
  }

  /** Takes any waiting task out of the queue. */
  take(task: Task): void {
    task.isWaiting = false;
  }

  /** When the next delayed task is due, in milliseconds; Infinity if there is none. */
  get nextDueMs(): number {
    for (let entry = this.#delayed.first; entry; entry = this.#delayed.first) {
      if (isCurrent(entry)) return entry.dueMs;
      this.#delayed.pop();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Moves a task whose cluster has to wait to where it belongs now. @returns whether it was moved */
  #defer(task: Task, nowMs: number): boolean {
    const { cluster, rank } = task;
    if (cluster.pausedUntilMs > nowMs) this.add(task, rank, cluster.pausedUntilMs);
    else if (cluster.isUnanswered && (rank === ranks.unattempted || rank === ranks.failedEarlier))
      this.add(task, ranks.doubtful);
    else return false;
    return true;
  }
}

interface Lane {
  readonly tasks: Task[];
  /** Tasks before this index have left the lane. */
  from: number;
}

interface DueTask {
  readonly dueMs: number;
  readonly task: Task;
}

/** A probe may have taken the task meanwhile. */
function isCurrent({ task, dueMs }: DueTask): boolean {
  return task.isWaiting && task.dueMs === dueMs;
}

/** A binary heap, the earliest first. */
class DueHeap {
  readonly #entries: DueTask[] = [];

  get first(): DueTask | undefined {
    return this.#entries[0];
  }

  push(entry: DueTask): void {
    const entries = this.#entries;
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = entries[parent];
      if (above === undefined || above.dueMs <= entry.dueMs) break;
      entries[at] = above;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): void {
    const entries = this.#entries;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return;
    let at = 0;
    for (;;) {
      const left = entries[2 * at + 1];
      const right = entries[2 * at + 2];
      const isRight = right !== undefined && left !== undefined && right.dueMs < left.dueMs;
      const child = isRight ? right : left;
      if (child === undefined || child.dueMs >= last.dueMs) break;
      entries[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    entries[at] = last;
  }
}
