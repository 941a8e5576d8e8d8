import { maxRequests } from '../../../../lambda/collect/dispatch/retry';
import { type RandomFleet, randomFleet } from './random-fleet';
import { type SimulatedAttempt, type SimulatedTask, simulateRun } from './simulate-run';

/** Simulates a run of each random fleet. @returns what is wrong with it, in words, with the seed; empty: nothing */
export function problemsOfFleets(from: number, to: number): string[] {
  const traced = Error.stackTraceLimit;
  // Every failed request is an error, whose trace nobody reads.
  Error.stackTraceLimit = 0;
  const problems: string[] = [];
  for (let index = from; index < to; index += 1) {
    const fleet = randomFleet(`fleet ${index}`);
    for (const problem of problemsOf(fleet)) problems.push(`fleet ${index} (${fleet.description}): ${problem}`);
  }
  Error.stackTraceLimit = traced;
  return problems;
}

function problemsOf(fleet: RandomFleet): string[] {
  const attempts = simulateRun(fleet.service);
  const archivedBefore = new Set<SimulatedTask>();
  const problems = attempts.flatMap((attempt, index) => {
    const found = problemsOfAttempt(fleet, attempt, index + 1, archivedBefore);
    for (const task of attempt.archived) archivedBefore.add(task);
    return found.map((problem) => `attempt ${index + 1}: ${problem}`);
  });
  const last = attempts.at(-1);
  if (last === undefined || fleet.isKeyWrong) return problems;
  const missing = [...fleet.good].filter(({ isArchived }) => !isArchived);
  const wellMs = Math.max(last.startMs, fleet.wellFromMs);
  const hadTime = wellMs + fleet.neededMs <= last.startMs + fleet.service.attemptMs;
  const isRejected = isOfKey(last.end);
  const isUnlucky = fleet.isFlapping && last.startMs < fleet.wellFromMs;
  if (missing.length > 0 && hadTime && !isRejected && !isUnlucky)
    problems.push(`${missing.length} good ones are missing after ${attempts.length} attempts`);
  return problems;
}

/** Whether an attempt has ended because the key was rejected; an early end has no other reason but that the service is down. */
function isOfKey(end: SimulatedAttempt['end']): boolean {
  return typeof end === 'object' && end.reason.includes('rejected the API key');
}

function problemsOfAttempt(
  fleet: RandomFleet,
  attempt: SimulatedAttempt,
  number: number,
  archivedBefore: ReadonlySet<SimulatedTask>,
): string[] {
  const { service, good, isDisturbed, isKeyWrong, neededMs } = fleet;
  const { end, startMs, endMs, requests, mostUnderWay, tooEarly } = attempt;
  const problems: string[] = [];
  const demand = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem);
  };
  demand(mostUnderWay <= service.concurrency, `${mostUnderWay} requests at once`);
  demand(endMs <= startMs + service.attemptMs, `it ends ${endMs - startMs - service.attemptMs} ms too late`);

  demand(tooEarly === 0, `${tooEarly} requests before the time that Retry-After names`);

  const regular = new Map<SimulatedTask, number>();
  for (const { inFlight, task } of requests)
    if (inFlight.kind === 'regular') regular.set(task, (regular.get(task) ?? 0) + 1);
  // One more for a new key, and one to keep a body as received.
  for (const [{ cluster, resource }, count] of regular)
    demand(count <= maxRequests + 2, `${count} requests for the ${resource} of ${cluster}`);

  const missing = service.tasks.filter((task) => !archivedBefore.has(task));
  const asked = new Set(
    requests.flatMap(({ inFlight, task }) => (inFlight.kind === 'health-check' ? [] : task.cluster)),
  );
  const unasked = missing.filter(({ cluster }) => !asked.has(cluster));
  if (typeof end === 'object' && !isOfKey(end)) {
    const claimed = Number(/for (\d+) different/.exec(end.reason)?.[1] ?? 1);
    demand(
      attempt.unansweredInRow >= claimed,
      `${claimed} claimed, but ${attempt.unansweredInRow} in a row: ${end.reason}`,
    );
    demand(number < 3, 'the last attempt ends early');
    demand(unasked.length === 0, `the service looks down, but ${unasked.length} were never asked`);
  }
  if (isOfKey(end)) {
    demand(!attempt.workingKeys.has(attempt.lastKey), 'the key is said to be rejected, but it has worked');
    demand(
      archivedBefore.size === 0 || attempt.keyReadings > 1,
      'the key is said to be rejected, but an earlier attempt archived',
    );
    // Where the key may read next to nothing, it is taken for rejected; never-attempted clusters come first in the next attempt.
    const forbidden = missing.filter((task) => [401, 403].includes(task.behaviour(9).status));
    const isMostlyForbidden = forbidden.length > missing.length * 0.3;
    demand(isKeyWrong || isMostlyForbidden, 'the key is said to be rejected, but most clusters are not forbidden');
    return problems;
  }
  if (isKeyWrong && !isDisturbed) {
    const most = 12 + 2 * service.concurrency;
    demand(requests.length <= most, `${requests.length} requests with a wrong key`);
  }
  // Nothing is left unasked while time is left, and nothing good without its object.
  if (!isDisturbed && neededMs <= service.attemptMs) {
    const left = missing.filter((task) => good.has(task) && !attempt.archived.includes(task));
    const isDown = typeof end === 'object';
    demand(
      unasked.every((task) => !good.has(task)),
      `${unasked.length} clusters unasked`,
    );
    demand(isDown || left.length === 0, `${left.length} good ones not archived`);
  }
  return problems;
}
