import type { Reporter } from '../../lambda/run/reporter';
import type { Outcome, RunSummary } from '../../lambda/run/run-record';

/** Notes what an attempt reports. */
export class FakeReporter implements Reporter {
  readonly summaries: RunSummary[] = [];
  readonly unreadable: unknown[] = [];
  readonly notStored: unknown[] = [];
  outcomes: readonly Outcome[] = [];
  missingBefore: number | undefined;
  throttledAnswers = 0;
  isKeyRejected = false;
  readonly pauses: boolean[] = [];

  outcome(): void {}

  throttled(): void {
    this.throttledAnswers += 1;
  }

  keyRejected(): void {
    this.isKeyRejected = true;
  }

  servicePaused(isPaused: boolean): void {
    this.pauses.push(isPaused);
  }

  unreadableRecord(error: unknown): void {
    this.unreadable.push(error);
  }

  configurationNotStored(error: unknown): void {
    this.notStored.push(error);
  }

  finished(summary: RunSummary, outcomes: readonly Outcome[], missingBefore: number): void {
    this.summaries.push(summary);
    this.missingBefore = missingBefore;
    this.outcomes = outcomes;
  }
}
