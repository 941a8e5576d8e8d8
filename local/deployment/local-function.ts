import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EnvironmentOptions,
  ExecutionEnvironment,
  type FunctionError,
  type InvocationResult,
} from './execution-environment';

/** What became of one event in Lambda's queue, or of an execution of the state machine. */
export interface AsynchronousResult {
  /** All attempts, of all shards, in the order in which they ended. */
  readonly attempts: readonly InvocationResult[];
  /** What it failed with for good; undefined: it succeeded. */
  readonly failure: FunctionError | undefined;
}

export interface LocalFunctionOptions extends Omit<EnvironmentOptions, 'temporaryFolder'> {
  /** Whether an event gets no further attempt after these, which have failed; left out: as many as Lambda makes. */
  readonly givesUp?: ((failed: readonly InvocationResult[]) => boolean) | undefined;
  /**
   * Hands over the record of an event that failed for good. Left out: nobody is told.
   * @throws MessageRefusedError
   */
  readonly tell?: (destination: string, record: object) => Promise<void>;
}

/**
 * The deployed function with its warm execution environments; concurrent invocations get environments of their own. Nothing
 * keeps to its reserved concurrency: whoever invokes it here does not start two runs at once.
 */
export class LocalFunction {
  readonly #options: LocalFunctionOptions;
  readonly #environments: ExecutionEnvironment[] = [];
  /** Holds the execution environments' temporary files. */
  readonly #workFolder: string;
  #isClosed = false;

  constructor(options: LocalFunctionOptions) {
    this.#options = options;
    this.#workFolder = mkdtempSync(join(tmpdir(), 'local-function-'));
  }

  /** Invokes as Lambda does, and waits for the answer: an error of the function is an answer, not an exception. */
  async invoke(event: unknown = {}, requestId: string = randomUUID()): Promise<InvocationResult> {
    const environment = this.#environments.find(({ idle }) => idle) ?? this.#startEnvironment();
    return { requestId, ...(await environment.invoke(event, requestId)) };
  }

  /**
   * Puts the event into Lambda's queue and waits until Lambda is done with it.
   * @throws MessageRefusedError if it failed for good and its failure record was refused too
   */
  async invokeAsync(event: unknown = {}): Promise<AsynchronousResult> {
    const { definition, tell } = this.#options;
    const result = await this.attempt(event);
    const destination = definition.asynchronous?.DestinationConfig?.OnFailure?.Destination;
    if (result.failure !== undefined && destination !== undefined)
      await tell?.(destination, failureRecord(definition.arn, event, result));
    return result;
  }

  /**
   * Works on an event with the retries of Lambda's queue, without their waits, and tells nobody of a failure. Every attempt has
   * the same request id.
   */
  async attempt(event: unknown): Promise<AsynchronousResult> {
    const requestId = randomUUID();
    const attempts: InvocationResult[] = [];
    const { definition, givesUp = () => false } = this.#options;
    const { MaximumRetryAttempts = 2 } = definition.asynchronous ?? {};
    while (attempts.length <= MaximumRetryAttempts && !givesUp(attempts)) {
      const result = await this.invoke(event, requestId);
      attempts.push(result);
      if (result.error === undefined) break;
    }
    return { attempts, failure: attempts.at(-1)?.error };
  }

  /** Ends all execution environments, with what they are doing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#environments.map((environment) => environment.stop()));
    await rm(this.#workFolder, { recursive: true, force: true });
  }

  #startEnvironment(): ExecutionEnvironment {
    const { name } = this.#options.definition;
    if (this.#isClosed) throw new Error(`Invoking ${name} failed: the deployment is closed.`);
    const temporaryFolder = join(this.#workFolder, `tmp-${this.#environments.length + 1}`);
    mkdirSync(temporaryFolder);
    const environment = new ExecutionEnvironment({ ...this.#options, temporaryFolder });
    this.#environments.push(environment);
    return environment;
  }
}

/** The document that Lambda sends to a failure destination. */
function failureRecord(functionArn: string, event: unknown, { attempts, failure }: AsynchronousResult): object {
  return {
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId: attempts.at(-1)?.requestId,
      functionArn: `${functionArn}:$LATEST`,
      condition: 'RetriesExhausted',
      approximateInvokeCount: attempts.length,
    },
    requestPayload: event,
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: failure,
  };
}
