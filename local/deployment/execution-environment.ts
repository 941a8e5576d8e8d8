import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { FunctionDefinition } from './function-definition';

/** An error of a function in Lambda's own form, which callers of the function get as the payload. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** From here to the runtime. */
export interface InvokeMessage {
  readonly requestId: string;
  readonly event: unknown;
  /** Milliseconds since the epoch at which the function's time is up. */
  readonly deadline: number;
  /** The line that ends the invocation's output on both streams; Lambda writes the same one. */
  readonly endLine: string;
}

/** What an invocation answers: what JSON has made of its result, or the error that Lambda would report as the payload. */
export type InvocationOutcome =
  | { readonly payload: unknown; readonly error?: undefined }
  | { readonly payload?: undefined; readonly error: FunctionError };

export type InvocationResult = InvocationOutcome & {
  /** The same for all attempts at one asynchronous event. */
  readonly requestId: string;
};

/** From the runtime to here. */
export type RuntimeMessage = 'ready' | InvocationOutcome;

export interface EnvironmentOptions {
  readonly definition: FunctionDefinition;
  readonly codeFolder: string;
  /** Path of the bundled runtime. */
  readonly runtimeFile: string;
  /** The whole environment of the process. */
  readonly variables: Readonly<Record<string, string>>;
  /** Called with each line that the function writes to standard output or standard error. */
  readonly onLine: (line: string) => void;
}

interface PendingInvocation {
  readonly message: InvokeMessage;
  readonly settle: (outcome: InvocationOutcome) => void;
  outcome: InvocationOutcome | undefined;
  /** How many of the two output streams have not shown the invocation's last line yet. */
  openStreams: number;
  timer: NodeJS.Timeout | undefined;
}

/** One process that holds the loaded function and works on one invocation at a time, as an execution environment of Lambda. */
export class ExecutionEnvironment {
  readonly #options: EnvironmentOptions;
  readonly #process: ChildProcess;
  readonly #closed: Promise<unknown>;
  #ready = false;
  #pending: PendingInvocation | undefined;
  #timedOut = false;

  constructor(options: EnvironmentOptions) {
    this.#options = options;
    const { definition, codeFolder, runtimeFile, variables, onLine } = options;
    this.#process = spawn(process.execPath, [...memoryArguments(definition), runtimeFile, definition.arn], {
      cwd: codeFolder,
      env: { ...variables },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#closed = once(this.#process, 'close').then(([code, signal]) => this.#onClose(code, signal));
    this.#process.on('message', (message: RuntimeMessage) => this.#onMessage(message));
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
        const pending = this.#pending;
        if (pending === undefined || line !== pending.message.endLine) return onLine(line);
        pending.openStreams -= 1;
        this.#settleIfDone();
      });
    }
  }

  /** Whether it can take another invocation. */
  get idle(): boolean {
    return this.#pending === undefined && this.#process.connected && this.#process.exitCode === null;
  }

  invoke(event: unknown, requestId: string): Promise<InvocationOutcome> {
    return new Promise((settle) => {
      const message = { requestId, event, deadline: 0, endLine: `END RequestId: ${requestId}` };
      this.#pending = { message, settle, outcome: undefined, openStreams: 2, timer: undefined };
      if (this.#ready) this.#begin(this.#pending);
    });
  }

  /** Ends the process, whatever it is doing. */
  async stop(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#closed;
  }

  /** Loading the function does not count against its time limit, as on Lambda. */
  #begin(pending: PendingInvocation): void {
    const limit = this.#options.definition.timeoutSeconds * 1000;
    pending.timer = setTimeout(() => {
      this.#timedOut = true;
      this.#process.kill('SIGKILL');
    }, limit);
    this.#process.send({ ...pending.message, deadline: Date.now() + limit } satisfies InvokeMessage);
  }

  #onMessage(message: RuntimeMessage): void {
    if (message === 'ready') {
      this.#ready = true;
      if (this.#pending !== undefined) this.#begin(this.#pending);
    } else if (this.#pending !== undefined) {
      this.#pending.outcome = message;
      this.#settleIfDone();
    }
  }

  #settleIfDone(): void {
    if (this.#pending?.outcome !== undefined && this.#pending.openStreams === 0)
      this.#settle(this.#pending, this.#pending.outcome);
  }

  #onClose(code: number | null, signal: string | null): void {
    if (this.#pending === undefined) return;
    const { requestId } = this.#pending.message;
    this.#settle(
      this.#pending,
      this.#pending.outcome ?? {
        error: this.#timedOut
          ? {
              errorType: 'Sandbox.Timedout',
              errorMessage: `RequestId: ${requestId} Error: Task timed out after ${this.#options.definition.timeoutSeconds.toFixed(2)} seconds`,
            }
          : {
              errorType: 'Runtime.ExitError',
              errorMessage: `RequestId: ${requestId} Error: ${exitReason(code, signal)}`,
            },
      },
    );
  }

  #settle(pending: PendingInvocation, outcome: InvocationOutcome): void {
    clearTimeout(pending.timer);
    this.#pending = undefined;
    pending.settle(outcome);
  }
}

function exitReason(code: number | null, signal: string | null): string {
  if (signal !== null) return `Runtime exited with error: signal: ${signalNames[signal] ?? signal}`;
  return code === 0 ? 'Runtime exited without providing a reason' : `Runtime exited with error: exit status ${code}`;
}

const signalNames: Readonly<Record<string, string>> = {
  SIGKILL: 'killed',
  SIGABRT: 'aborted',
  SIGSEGV: 'segmentation fault',
};

/**
 * How Lambda's runtime starts Node: each of the young generation's spaces may take a twentieth of the function's memory,
 * and the rest of the heap nine tenths. Read in the start script of its Node 14 and 18 images; not documented.
 */
export function memoryArguments({ memoryMiB }: Pick<FunctionDefinition, 'memoryMiB'>): string[] {
  const young = Math.floor(memoryMiB / 10);
  return [`--max-semi-space-size=${Math.floor(young / 2)}`, `--max-old-space-size=${memoryMiB - young}`];
}
