import type { Outcome, RunSummary } from '../../archive/format/run-record';
import type { Reporter } from '../../lambda/collect/run/reporter';

/** Notes what an attempt reports. */
export class FakeReporter implements Reporter {
  readonly summaries: RunSummary[] = [];
  readonly warnings: string[] = [];
  readonly askedAgainWith: number[] = [];
  outcomes: readonly Outcome[] = [];
  throttledAnswers = 0;

  outcome(): void {}

  askedAgain(_task: object, requests: number): void {
    this.askedAgainWith.push(requests);
  }

  throttled(): void {
    this.throttledAnswers += 1;
  }

  warn(message: string): void {
    this.warnings.push(message);
  }

  finished(summary: RunSummary, outcomes: readonly Outcome[]): void {
    this.summaries.push(summary);
    this.outcomes = outcomes;
  }
}
