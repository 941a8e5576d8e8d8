import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { transformSync } from 'esbuild';
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

/** What a function's process is started with. */
export interface EnvironmentOptions {
  readonly definition: FunctionDefinition;
  /** Of the services that the function calls: `http://127.0.0.1:<port>`. */
  readonly endpoint: string;
  /** Of S3; left out: the same. */
  readonly endpointOfS3?: string | undefined;
  readonly region: string;
  /** Stands for Lambda's /tmp, which belongs to one execution environment. */
  readonly temporaryFolder: string;
  /** Called with each line that the function writes to standard output or standard error. */
  readonly onLine: (line: string) => void;
}

/** One process that holds the loaded function and works on one invocation at a time, as an execution environment of Lambda. */
export class ExecutionEnvironment {
  readonly #timeoutSeconds: number;
  readonly #process: ChildProcess;
  readonly #ready: Promise<void>;
  /** Exit code and signal. */
  readonly #closed: Promise<unknown[]>;
  /** Of the invocation under way: its last line, and how many are missing of its outcome and this line on both streams. */
  #pending: { readonly endLine: string; missing: number; readonly finish: () => void } | undefined;
  #outcome: InvocationOutcome | undefined;

  constructor(options: EnvironmentOptions) {
    const { definition, onLine } = options;
    this.#timeoutSeconds = definition.timeoutSeconds;
    // Beside the function's files. Given as text, it would make Node's modules global, which they are not on Lambda.
    const program = `${options.temporaryFolder}.js`;
    writeFileSync(program, runtimeProgram());
    this.#process = spawn(process.execPath, [...memoryArguments(definition), program, definition.arn], {
      cwd: definition.codeFolder,
      env: functionVariables(options),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#closed = once(this.#process, 'close');
    this.#ready = new Promise((resolve) => {
      this.#process.on('message', (message: RuntimeMessage) => {
        if (message === 'ready') return resolve();
        this.#outcome = message;
        this.#arrive();
      });
    });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      createInterface({ input: stream as Readable, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
        if (line === this.#pending?.endLine) this.#arrive();
        else onLine(line);
      });
  }

  /** Whether it can take another invocation. */
  get idle(): boolean {
    return this.#pending === undefined && this.#process.connected && this.#process.exitCode === null;
  }

  async invoke(event: unknown, requestId: string): Promise<InvocationOutcome> {
    const limit = this.#timeoutSeconds * 1000;
    const endLine = `END RequestId: ${requestId}`;
    let timer: NodeJS.Timeout | undefined;
    let isTimedOut = false;
    this.#outcome = undefined;
    const finished = new Promise<void>((finish) => {
      this.#pending = { endLine, missing: 3, finish };
    });
    // Loading the function does not count against its time limit, as on Lambda.
    void this.#ready.then(() => {
      timer = setTimeout(() => {
        isTimedOut = true;
        this.#process.kill('SIGKILL');
      }, limit);
      this.#process.send({ requestId, event, deadline: Date.now() + limit, endLine } satisfies InvokeMessage);
    });
    const end = await Promise.race([finished, this.#closed]);
    clearTimeout(timer);
    this.#pending = undefined;
    if (this.#outcome !== undefined) return this.#outcome;
    const [errorType, reason] = isTimedOut
      ? ['Sandbox.Timedout', `Task timed out after ${this.#timeoutSeconds.toFixed(2)} seconds`]
      : ['Runtime.ExitError', exitReason(...((end ?? []) as [number | null, string | null]))];
    return { error: { errorType, errorMessage: `RequestId: ${requestId} Error: ${reason}` } };
  }

  /** Ends the process, whatever it is doing. */
  async stop(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#closed;
  }

  #arrive(): void {
    if (this.#pending === undefined) return;
    this.#pending.missing -= 1;
    if (this.#pending.missing === 0) this.#pending.finish();
  }
}

/** Made once: esbuild is a process of its own. */
let runtime: string | undefined;

/** The program of each process, as JavaScript. It imports nothing but Node's own modules. */
function runtimeProgram(): string {
  const file = join(__dirname, 'runtime.ts');
  runtime ??= transformSync(readFileSync(file), { loader: 'ts', format: 'cjs', target: 'node20' }).code;
  return runtime;
}

/** All environment variables of a function's process: those of the template and those of Lambda, none of this process. */
export function functionVariables(options: Omit<EnvironmentOptions, 'onLine'>): Record<string, string> {
  const { definition, endpoint, endpointOfS3, region, temporaryFolder } = options;
  const [nodeMajor] = process.versions.node.split('.');
  return {
    ...definition.environment,
    _HANDLER: definition.handler,
    AWS_ACCESS_KEY_ID: definition.role.accessKeyId,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
    ...(endpointOfS3 !== undefined && { AWS_ENDPOINT_URL_S3: endpointOfS3 }),
    AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${nodeMajor}.x`,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMiB),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: definition.logGroup,
    AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${basename(temporaryFolder)}`,
    AWS_REGION: region,
    AWS_SECRET_ACCESS_KEY: definition.role.secretAccessKey,
    AWS_SESSION_TOKEN: definition.role.sessionToken,
    LAMBDA_TASK_ROOT: definition.codeFolder,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TMPDIR: temporaryFolder,
    TZ: ':UTC',
  };
}

function exitReason(code: number | null, signal: string | null): string {
  if (signal !== null) return `Runtime exited with error: signal: ${signal === 'SIGKILL' ? 'killed' : signal}`;
  return code === 0 ? 'Runtime exited without providing a reason' : `Runtime exited with error: exit status ${code}`;
}

/**
 * How Lambda's runtime starts Node: each of the young generation's spaces may take a twentieth of the function's memory,
 * and the rest of the heap nine tenths. Read in the start script of its Node 14 and 18 images; not documented.
 */
export function memoryArguments({ memoryMiB }: Pick<FunctionDefinition, 'memoryMiB'>): string[] {
  const young = Math.floor(memoryMiB / 10);
  return [`--max-semi-space-size=${Math.floor(young / 2)}`, `--max-old-space-size=${memoryMiB - young}`];
}
