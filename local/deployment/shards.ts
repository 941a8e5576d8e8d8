import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { asynchronousAttempts, asynchronousRetryWaits } from '../../lambda/time-limits';
import { refusalOf } from '../aws/iam/authorize';
import type { InvocationResult } from './execution-environment';
import type { QueueClock } from './local-function';
import { readRole } from './role';
import { type StackTemplate, UnsupportedTemplateError } from './stack-template';

/** The result of one execution of the state machine. */
export interface ExecutionResult {
  readonly name: string;
  /** All invocations of the function, in the order in which they ended. */
  readonly invocations: readonly InvocationResult[];
  /** Why the execution failed; undefined: every shard succeeded. */
  readonly failure?: { readonly error: string; readonly cause: string };
}

export interface ShardsOptions {
  readonly stack: StackTemplate;
  /** ARN of the function that works on each shard. */
  readonly functionArn: string;
  /** Invokes the function, and waits for its answer. */
  readonly invoke: (event: unknown) => Promise<InvocationResult>;
  readonly clock: QueueClock;
}

/** Stands in for the stack's state machine. */
export interface LocalShards {
  readonly arn: string;
  /** Amazon States Language, as it would be deployed. */
  readonly definition: string;
  /** Works on all shards of a run and waits until each of them has succeeded or failed for good. */
  start(event: object): Promise<ExecutionResult>;
}

const resourceSchema = z.object({ DefinitionString: z.string(), RoleArn: z.string() });

/** The states of `infra/fan-out.ts` that say how many shards there are, and how many of them run at once. */
const definitionSchema = z.object({
  States: z.object({
    'Divide the fleet': z.object({ Parameters: z.object({ indices: z.array(z.int()) }) }),
    'Collect the shards': z.object({ MaxConcurrency: z.int().positive() }),
  }),
});

/** Errors of the function that every attempt at the same event ends with. */
const permanentErrors = ['InvalidEventError', 'RunNotFoundError'];

/**
 * Does what the stack's state machine does with an event: invokes the function for each shard, as many at once as the
 * definition says, with its retries. The definition itself is not interpreted; a soak test runs it in moto.
 * @returns undefined if the stack has no state machine
 * @throws UnsupportedTemplateError for a definition that is not that of `infra/fan-out.ts`
 */
export function readShards({ stack, functionArn, invoke, clock }: ShardsOptions): LocalShards | undefined {
  const [resource] = stack.resourcesOf('AWS::StepFunctions::StateMachine');
  if (resource === undefined) return undefined;
  const { DefinitionString, RoleArn } = resource.read(resourceSchema);
  const parsed = definitionSchema.safeParse(JSON.parse(DefinitionString));
  if (!parsed.success)
    throw new UnsupportedTemplateError(`Cannot run ${resource.logicalId} locally: ${z.prettifyError(parsed.error)}`);
  const { 'Divide the fleet': divide, 'Collect the shards': collect } = parsed.data.States;
  const { indices } = divide.Parameters;
  const arn = resource.identity.ref;
  const role = readRole(stack, RoleArn, 'states.amazonaws.com', arn);
  const refusal = refusalOf(role, { action: 'lambda:InvokeFunction', resource: functionArn });

  const work = async (event: object, invocations: InvocationResult[]): Promise<boolean> => {
    for (let attempts = 1; ; attempts += 1) {
      const result = await invoke(event);
      invocations.push(result);
      if (result.error === undefined) return true;
      if (permanentErrors.includes(result.error.errorType) || attempts === asynchronousAttempts) return false;
      await clock.wait(asynchronousRetryWaits[attempts - 1] ?? 0);
    }
  };
  return {
    arn,
    definition: DefinitionString,
    start: async (event) => {
      const name = randomUUID();
      const invocations: InvocationResult[] = [];
      if (refusal !== undefined)
        return { name, invocations, failure: { error: 'Lambda.AWSLambdaException', cause: refusal } };
      const isNamed = ['scheduledTime', 'newRun', 'run'].some((member) => member in event);
      const named = isNamed ? event : { ...event, newRun: new Date(clock.now()).toISOString() };
      const failed: number[] = [];
      const queue = indices.values();
      const worker = async () => {
        for (const index of queue) {
          const shard = { index, count: indices.length };
          if (!(await work({ ...named, shard }, invocations))) failed.push(index);
        }
      };
      await Promise.all(Array.from({ length: collect.MaxConcurrency }, worker));
      if (failed.length === 0) return { name, invocations };
      const shards = JSON.stringify(failed.sort((a, b) => a - b));
      const cause = `The shards ${shards} of ${indices.length} did not succeed; what the others collected is archived.`;
      return { name, invocations, failure: { error: 'ShardsFailedError', cause } };
    },
  };
}
