import { parseObjectKey } from '../../lambda/archive/archive-layout';
import { asynchronousAttempts, logMessages } from '../../lambda/stack-contract';
import type { LoggedRequest } from '../../local/aws/local-aws';
import { Progress, type Ticker } from '../terminal/progress';
import type { Terminal } from '../terminal/terminal';

export interface ExpectedRun {
  /** Objects that it should archive. */
  readonly objects: number;
  /** Whether it has the retries that Lambda makes. */
  readonly isRetried: boolean;
  readonly shards: number;
}

/** Shows what a local run archives, and at which attempt it is. */
export class StartProgress {
  readonly #progress: Progress;
  readonly #expected: ExpectedRun;
  #archived = 0;
  #attemptsEnded = 0;
  #isPaused = false;

  constructor(terminal: Terminal, expected: ExpectedRun, ticker?: Ticker) {
    this.#expected = expected;
    this.#progress = new Progress(
      terminal,
      'Archiving',
      { now: this.#now(), done: 0, total: expected.objects },
      ticker,
    );
  }

  get archived(): number {
    return this.#archived;
  }

  /** Takes note of an answered call to the archive. */
  request({ action, key = '', status }: LoggedRequest): void {
    if (action !== 'PutObject' || status !== 200 || parseObjectKey(key) === undefined) return;
    this.#archived += 1;
    this.#progress.update({ done: this.#archived });
  }

  /** Takes note of a line that the function wrote. */
  line(line: string): void {
    const said = (message: string) => line.includes(`"message":${JSON.stringify(message)}`);
    if (said(logMessages.run)) this.#attemptsEnded += 1;
    else if (said(logMessages.paused)) this.#isPaused = true;
    else if (!said(logMessages.resumed)) return;
    if (!said(logMessages.paused)) this.#isPaused = false;
    this.#progress.update({ now: this.#now() });
  }

  stop(): void {
    this.#progress.stop();
  }

  #now(): string {
    const { isRetried, shards } = this.#expected;
    const paused = this.#isPaused ? '; the service looks down, a few clusters are asked now and then' : '';
    if (shards > 1) return `${this.#attemptsEnded} attempts ended, of ${shards} shards${paused}`;
    const most = isRetried ? asynchronousAttempts : 1;
    return `attempt ${Math.min(this.#attemptsEnded + 1, most)} of ${most}${paused}`;
  }
}
