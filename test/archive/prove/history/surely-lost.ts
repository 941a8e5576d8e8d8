import { dayMs, hourMs } from '../../../../archive/format/clocks';
import type { Deployment } from './random-deployment';

/** A time at which the schedule was due. */
export interface Due {
  readonly at: Date;
  /** The deployment that it was due in. */
  readonly deployment: Deployment;
  /** Whether a record of its run is there. */
  isRecorded: boolean;
}

export interface Played {
  readonly due: readonly Due[];
  readonly deployments: readonly Deployment[];
  /** Runs with attempts under different configurations. */
  readonly mixed: ReadonlySet<number>;
  /** Runs of which an attempt was killed. */
  readonly unfinished: ReadonlySet<number>;
}

/** What left no record, and a reader must call absent. */
export function surelyLost({ due, deployments, mixed, unfinished }: Played, now: Date): Date[] {
  const recorded = due.filter(({ isRecorded }) => isRecorded);
  const found = due.filter(({ at, deployment, isRecorded }) => {
    if (isRecorded || now.getTime() - at.getTime() <= dayMs) return false;
    const before = recorded.findLast((other) => other.at < at);
    const after = recorded.find((other) => other.at > at);
    if (before?.deployment !== deployment || after?.deployment !== deployment) return false;
    // The archive does not say which configuration such a run began with.
    const isMixed = [...mixed].some((run) => run >= before.at.getTime() && run <= after.at.getTime());
    // Clocks may be off: another configuration close to one of the two runs may have been in force between them.
    const isOnlyOne =
      deployment.from.getTime() < before.at.getTime() - 4 * hourMs &&
      !deployments.some(({ from }) => from > deployment.from && from.getTime() < after.at.getTime() + 4 * hourMs);
    return !isMixed && !unfinished.has(after.at.getTime()) && isOnlyOne;
  });
  return found.map(({ at }) => at);
}
