import * as z from 'zod';
import { refusalOf } from '../aws/iam/authorize';
import type { FunctionError, InvocationResult } from './execution-environment';
import type { AsynchronousResult } from './local-function';
import { readRole } from './role';
import { type StackTemplate, UnsupportedTemplateError } from './stack-template';

/** Stands in for the stack's state machine. */
export interface LocalShards {
  readonly arn: string;
  /** Amazon States Language, as it would be deployed. */
  readonly definition: string;
  /** Works on all shards of a run and waits until each of them has succeeded or failed for good. */
  start(event: object): Promise<AsynchronousResult>;
}

const resourceSchema = z.object({ DefinitionString: z.string(), RoleArn: z.string() });

/** The states of `infra/fan-out.ts` that say how many shards there are, and how many of them run at once. */
const definitionSchema = z.object({
  States: z.object({
    'Divide the fleet': z.object({ Parameters: z.object({ indices: z.array(z.int()) }) }),
    'Collect the shards': z.object({ MaxConcurrency: z.int().positive() }),
    // Only if a monitoring service outside is told.
    'Tell the monitoring service': z.optional(
      z.object({ Parameters: z.object({ Payload: z.object({ heartbeat: z.object({ shards: z.int() }) }) }) }),
    ),
  }),
});

/**
 * Does what the stack's state machine does with an event: invokes the function for each shard, as many at once as the
 * definition says. The definition itself is not interpreted; a soak test runs it in moto.
 * @param attempt invokes the function with the retries of Lambda's queue, which those of the definition follow
 * @returns undefined if the stack has no state machine
 * @throws UnsupportedTemplateError for a definition that is not that of `infra/fan-out.ts`
 */
export function readShards(
  stack: StackTemplate,
  functionArn: string,
  attempt: (event: object) => Promise<AsynchronousResult>,
): LocalShards | undefined {
  const [resource] = stack.resourcesOf('AWS::StepFunctions::StateMachine');
  if (resource === undefined) return undefined;
  const { DefinitionString, RoleArn } = resource.read(resourceSchema);
  const parsed = definitionSchema.safeParse(JSON.parse(DefinitionString));
  if (!parsed.success)
    throw new UnsupportedTemplateError(`Cannot run ${resource.logicalId} locally: ${z.prettifyError(parsed.error)}`);
  const {
    'Divide the fleet': divide,
    'Collect the shards': collect,
    'Tell the monitoring service': tell,
  } = parsed.data.States;
  const { indices } = divide.Parameters;
  const arn = resource.identity.ref;
  const role = readRole(stack, RoleArn, 'states.amazonaws.com', arn);
  const refusal = refusalOf(role, { action: 'lambda:InvokeFunction', resource: functionArn });
  const start = async (event: object): Promise<AsynchronousResult> => {
    const attempts: InvocationResult[] = [];
    if (refusal !== undefined) return { attempts, failure: shardsFailed(refusal) };
    const isNamed = ['scheduledTime', 'newRun', 'run'].some((member) => member in event);
    const named = isNamed ? event : { ...event, newRun: new Date().toISOString() };
    const failures = new Map<number, FunctionError>();
    const queue = indices.values();
    const worker = async () => {
      for (const index of queue) {
        const result = await attempt({ ...named, shard: { index, count: indices.length } });
        attempts.push(...result.attempts);
        if (result.failure !== undefined) failures.set(index, result.failure);
      }
    };
    await Promise.all(Array.from({ length: collect.MaxConcurrency }, worker));
    if (failures.size === 0) {
      // Whatever comes of it, the run is complete.
      if (tell !== undefined && isOfSchedule(event))
        await attempt({ scheduledTime: event.scheduledTime, heartbeat: tell.Parameters.Payload.heartbeat });
      return { attempts, failure: undefined };
    }
    const cause = causeOf(failures, indices.length);
    return { attempts, failure: shardsFailed(cause) };
  };
  return { arn, definition: DefinitionString, start };
}

/** As the definition has it: a person may name a time of the schedule too, and ask for something else. */
function isOfSchedule(event: object): event is { readonly scheduledTime: unknown } {
  const isDry = 'dryRun' in event && event.dryRun === true;
  return 'scheduledTime' in event && !('clusters' in event) && !('requestId' in event) && !isDry;
}

/** The beginning of what the definition says, which the function that reports failures reads. */
function causeOf(failures: ReadonlyMap<number, FunctionError>, count: number): string {
  const all = [...failures].sort(([a], [b]) => a - b);
  const text = (values: unknown) => JSON.stringify(values);
  const indicesOf = (is: (error: FunctionError) => boolean) =>
    all.flatMap(([index, error]) => (is(error) ? index : []));
  const isIncomplete = ({ errorType }: FunctionError) => errorType === 'RunIncompleteError';
  const isRefused = ({ errorType }: FunctionError) =>
    errorType === 'ClusterListError' || errorType === 'NoClusterListError';
  const missing = all.flatMap(([, error]) =>
    isIncomplete(error) ? (/\(([^)]*)\)/.exec(error.errorMessage)?.[1] ?? '') : [],
  );
  const unrecorded = indicesOf((error) => !isIncomplete(error) && error.errorType !== 'ClusterListError');
  return `The shards ${text(indicesOf(() => true))} of ${count} did not succeed; without a record: ${text(unrecorded)}; the list refused: ${text(indicesOf(isRefused))}; missing of the others: ${text(missing)}. What was collected is archived.`;
}

function shardsFailed(errorMessage: string): FunctionError {
  return { errorType: 'ShardsFailedError', errorMessage };
}
