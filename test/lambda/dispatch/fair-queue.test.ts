import { FairQueue } from '../../../lambda/dispatch/fair-queue';
import { ranks, type Task } from '../../../lambda/dispatch/task';
import { seededRandom } from '../../../local/demo-service/seeded-random';

/** What `cases.test.ts` and the random fleets would not notice. */

const taskOf = (index: number): Task => ({ request: { cluster: `c${index}`, resource: 'log' }, index });

function takeAll(queue: FairQueue, nowMs: number): number[] {
  const taken: number[] = [];
  for (let task = queue.first(nowMs); task; task = queue.first(nowMs)) {
    queue.take(task);
    taken.push(task.index);
  }
  return taken;
}

it('a thousand delayed tasks are given by their time', () => {
  const queue = new FairQueue();
  const random = seededRandom('queue');
  const dueMs = Array.from({ length: 1000 }, () => 1 + Math.floor(random() * 5000));
  for (const due of dueMs) queue.add(taskOf(due), ranks.retry, due);
  expect(takeAll(queue, 2500)).toEqual(dueMs.filter((due) => due <= 2500).sort((a, b) => a - b));
  expect(queue.nextDueMs).toBe(Math.min(...dueMs.filter((due) => due > 2500)));
});

it('nothing is given twice that a probe has taken out of turn', () => {
  const queue = new FairQueue();
  const [now, later] = [taskOf(1), taskOf(2)];
  queue.add(now, ranks.first);
  queue.add(later, ranks.retry, 100);
  for (const task of [now, later]) queue.take(task);
  expect(queue.nextDueMs).toBe(Number.POSITIVE_INFINITY);
  for (const task of [now, later]) queue.add(task, ranks.retry, 2000);
  expect(takeAll(queue, 1999)).toEqual([]);
  expect(takeAll(queue, 2000)).toEqual([1, 2]);
});
