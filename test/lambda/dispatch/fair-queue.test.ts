import { FairQueue } from '../../../lambda/dispatch/fair-queue';
import { type Rank, ranks, type Task } from '../../../lambda/dispatch/task';
import { seededRandom } from '../../../local/demo-service/seeded-random';

let index = 0;

function taskOf(uid: string): Task {
  index += 1;
  return { request: { cluster: uid, resource: 'log' }, index };
}

function queueOf(entries: readonly (readonly [uid: string, rank: Rank, dueMs?: number])[]) {
  const queue = new FairQueue();
  const tasks = entries.map(([uid, rank, dueMs]) => {
    const task = taskOf(uid);
    queue.add(task, rank, dueMs);
    return task;
  });
  return { queue, tasks };
}

/** Takes everything that may be asked now. */
function takeAll(queue: FairQueue, nowMs: number): string[] {
  const taken: string[] = [];
  for (let task = queue.first(nowMs); task; task = queue.first(nowMs)) {
    queue.take(task);
    taken.push(task.request.cluster);
  }
  return taken;
}

describe('the fair queue', () => {
  it('gives by rank, and within a rank in the order of arrival', () => {
    const { queue } = queueOf([
      ['slow', ranks.slow],
      ['retry', ranks.retry],
      ['failed 1', ranks.failedEarlier],
      ['new 1', ranks.unattempted],
      ['failed 2', ranks.failedEarlier],
      ['new 2', ranks.unattempted],
      ['again', ranks.again],
    ]);
    expect(takeAll(queue, 0)).toEqual(['again', 'new 1', 'new 2', 'failed 1', 'failed 2', 'retry', 'slow']);
  });

  it('holds back what is not due', () => {
    const { queue } = queueOf([
      ['late', ranks.retry, 200],
      ['early', ranks.retry, 100],
      ['now', ranks.slow],
    ]);
    expect(queue.nextDueMs).toBe(100);
    expect(takeAll(queue, 99)).toEqual(['now']);
    expect(takeAll(queue, 100)).toEqual(['early']);
    expect(queue.nextDueMs).toBe(200);
    expect(takeAll(queue, 300)).toEqual(['late']);
    expect(queue.nextDueMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('gives a thousand delayed tasks by their time', () => {
    const random = seededRandom('queue');
    const dueMs = Array.from({ length: 1000 }, () => 1 + Math.floor(random() * 5000));
    const { queue } = queueOf(dueMs.map((due) => [String(due), ranks.retry, due]));
    expect(takeAll(queue, 5000)).toEqual(dueMs.sort((a, b) => a - b).map(String));
  });

  it('puts what was not asked of a cluster without an answer behind the other clusters', () => {
    const { queue } = queueOf([
      ['hanging', ranks.unattempted],
      ['new', ranks.unattempted],
      ['failed', ranks.failedEarlier],
      ['retry', ranks.retry],
    ]);
    queue.answered('hanging', false);
    expect(takeAll(queue, 0)).toEqual(['new', 'failed', 'hanging', 'retry']);
  });

  it('holds back a cluster for as long as the service asked for', () => {
    const { queue } = queueOf([
      ['paused', ranks.unattempted],
      ['new', ranks.unattempted],
    ]);
    queue.pause('paused', 500);
    expect(takeAll(queue, 0)).toEqual(['new']);
    expect(queue.nextDueMs).toBe(500);
    expect(takeAll(queue, 500)).toEqual(['paused']);
  });

  it('gives to a probe what has waited longest, unless the service itself asked for the delay', () => {
    const { queue } = queueOf([]);
    const [heldBack, slow, retried] = [taskOf('held back'), taskOf('slow'), taskOf('retried')] as const;
    queue.add(heldBack, ranks.retry, 100, 100);
    queue.add(slow, ranks.slow, 300);
    queue.add(retried, ranks.retry, 200);
    expect(queue.longestWaiting(99)).toBe(slow);
    expect(queue.longestWaiting(100)).toBe(heldBack);
    queue.pause('slow', 150);
    expect(queue.longestWaiting(99)).toBe(retried);
    expect(queue.first(200)).toBe(heldBack);
    queue.take(slow);
    queue.add(slow, ranks.slow, 400);
    queue.take(heldBack);
    expect(queue.longestWaiting(200)).toBe(retried);
  });

  it('gives nothing twice that a probe has taken out of turn', () => {
    const { queue, tasks } = queueOf([
      ['a', ranks.unattempted],
      ['b', ranks.retry, 100],
    ]);
    for (const task of tasks) queue.take(task);
    expect(queue.nextDueMs).toBe(Number.POSITIVE_INFINITY);
    expect(takeAll(queue, 1000)).toEqual([]);
    for (const task of tasks) queue.add(task, ranks.retry, 2000);
    expect(takeAll(queue, 1999)).toEqual([]);
    expect(takeAll(queue, 2000)).toEqual(['a', 'b']);
  });
});
