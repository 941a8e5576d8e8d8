import { parseObjectKey, parseRunRecordKey } from '../../archive/format/keys';
import { type Outcome, outcomeSchema, type RunSummary, summarySchema, taskName } from '../../archive/format/run-record';
import { unansweredReasons } from '../../lambda/collect/dispatch/circuit-breaker';
import { maxRequests } from '../../lambda/collect/dispatch/retry';
import { logMessages } from '../../lambda/stack-contract';
import { asynchronousAttempts } from '../../lambda/time-limits';
import type { LoggedRequest } from '../../local/aws/aws-endpoint';
import type { InvocationResult } from '../../local/deployment/execution-environment';
import { printable } from '../terminal/printable';
import { Progress } from '../terminal/progress';
import type { Terminal } from '../terminal/terminal';

type Task = Pick<Outcome, 'cluster' | 'resource'>;

/** Messages of lines that say what became of a cluster x resource. */
const outcomeMessages: readonly string[] = [logMessages.failure, logMessages.doubt, logMessages.wouldArchive];

/** Most objects that are named while they are waited for. */
const mostNamed = 4;

export interface ExpectedRun {
  /** Objects that it should archive. */
  readonly objects: number;
  /** Of these, those whose end can be seen: they are named while few are left. */
  readonly awaited: readonly Task[];
  /** Whether it has the retries that Lambda makes. */
  readonly isRetried: boolean;
  readonly shards: number;
  /** Whether nothing is written. */
  readonly isDry?: boolean | undefined;
}

/** Takes note of what a local run writes and logs, and shows its progress. */
export class WatchedRun {
  /** How many objects it has archived. */
  archived = 0;
  /** Whether it has written a run record. */
  hasRecord = false;
  /** What the last attempt says of itself, also one that failed, whose answer is an error. */
  summary: RunSummary | undefined;
  /** Outcomes that failed, have a doubt, or would be archived, from the log: a dry run leaves no run record. */
  readonly logged: Outcome[] = [];
  /** Whether the last attempt was left out, because the one before ended early over a service that is down. */
  isLastLeftOut = false;
  readonly #progress: Progress;
  readonly #expected: ExpectedRun;
  readonly #broken = new AbortController();
  /** Aborts, with the file system's error, when the archive's folder can no longer be used: every retry would fail. */
  readonly broken = this.#broken.signal;
  /** Names of the objects that it has archived, or would archive. */
  readonly #ended = new Set<string>();
  /** What the attempt under way has neither archived nor given up: by name, in words. */
  readonly #awaited = new Map<string, string>();
  #attemptsEnded = 0;

  constructor(terminal: Terminal, expected: ExpectedRun) {
    this.#expected = expected;
    this.#beginAttempt();
    const state = { now: this.#now(), done: 0, total: expected.objects };
    this.#progress = new Progress(terminal, expected.isDry === true ? 'Dry run' : 'Archiving', state);
  }

  /** Takes note of an answered call to the archive. */
  request({ action, key = '', status, failure }: LoggedRequest): void {
    if (isSystemError(failure)) this.#broken.abort(failure);
    if (action !== 'PutObject' || status !== 200) return;
    if (parseRunRecordKey(key) !== undefined) this.hasRecord = true;
    const object = parseObjectKey(key);
    if (object === undefined) return;
    this.archived += 1;
    this.#end(object);
  }

  /** Takes note of an object that is archived, or would be. */
  #end(task: Task): void {
    this.#ended.add(taskName(task));
    this.#awaited.delete(taskName(task));
    this.#progress.update({ done: this.#ended.size, now: this.#now() });
  }

  /** Takes note of a line that the function wrote. Most lines say nothing of the run, and need not be JSON. */
  line(line: string): void {
    if (!Object.values(logMessages).some((message) => line.includes(message))) return;
    const { message, ...entry } = JSON.parse(line);
    if (outcomeMessages.includes(message)) {
      const outcome = outcomeSchema.parse(entry);
      this.logged.push(outcome);
      if (outcome.outcome === 'failed') this.#awaited.delete(taskName(outcome));
      else if (outcome.outcome === 'would-archive') this.#end(outcome);
    }
    if (message === logMessages.again && this.#awaited.has(taskName(entry)))
      this.#awaited.set(taskName(entry), `${inWords(entry)}, request ${entry.requests} of ${maxRequests}`);
    if (message === logMessages.run) {
      this.#attemptsEnded += 1;
      // Of several shards, nobody says whose attempt this was.
      if (this.#expected.shards === 1) this.#beginAttempt();
      this.summary = summarySchema.parse(entry);
    }
    this.#progress.update({ now: this.#now() });
  }

  /**
   * Leaves out the last attempt of a run if the attempt before ended early because nobody was answered. In Lambda the last
   * one asks until its deadline, for up to 14 minutes, which nobody at a terminal waits for.
   */
  readonly givesUp = (failed: readonly InvocationResult[]): boolean => {
    const { errorMessage = '' } = failed.at(-1)?.error ?? {};
    const isDown = Object.values(unansweredReasons).some((why) => errorMessage.includes(`It ended early: ${why}`));
    const isOver = isDown && failed.length === asynchronousAttempts - 1;
    this.isLastLeftOut ||= isOver;
    return isOver;
  };

  stop(): void {
    this.#progress.stop();
  }

  /** Each attempt asks again for what the ones before have not archived. */
  #beginAttempt(): void {
    for (const task of this.#expected.awaited)
      if (!this.#ended.has(taskName(task))) this.#awaited.set(taskName(task), inWords(task));
  }

  /** `attempt 1 of 3; waiting for alpha: log, request 2 of 5; alpha: manifest` */
  #now(): string {
    const { isRetried, shards } = this.#expected;
    const isNamed = this.#awaited.size > 0 && this.#awaited.size <= mostNamed;
    const waiting = isNamed ? `; waiting for ${printable([...this.#awaited.values()].join('; '))}` : '';
    if (shards > 1) return `${this.#attemptsEnded} attempts ended, of ${shards} shards${waiting}`;
    const most = isRetried ? asynchronousAttempts : 1;
    const isEnded = this.summary?.status === 'complete';
    return `attempt ${Math.min(this.#attemptsEnded + (isEnded ? 0 : 1), most)} of ${most}${waiting}`;
  }
}

function inWords({ cluster, resource }: Task): string {
  return `${cluster}: ${resource}`;
}

/** Whether the operating system has refused something: a disk is full, a folder may not be written. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'syscall' in error;
}
