import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Access, type Caller, refusalOf } from '../../aws/iam/authorize';
import type { InvocationResult } from '../execution-environment';
import { type QueueClock, ThrottledError } from '../local-function';
import { readRole } from '../role';
import { type StackTemplate, UnsupportedTemplateError } from '../stack-template';
import { executeStates } from './execute-states';
import { stateMachineSchema } from './states-language';
import { StatesError } from './states-values';

/** The result of one execution of the state machine. */
export interface ExecutionResult {
  readonly name: string;
  /** All invocations of the function, in the order in which they ended. */
  readonly invocations: readonly InvocationResult[];
  /** What the execution failed with; undefined: it succeeded. */
  readonly failure?: { readonly error: string; readonly cause: string };
}

/** One value that was put to CloudWatch. */
export interface MetricValue {
  readonly namespace: string;
  readonly name: string;
  readonly value: number;
  readonly dimensions: Readonly<Record<string, string>>;
}

export interface StateMachineOptions {
  readonly stack: StackTemplate;
  /** Invokes a function and waits for its answer. */
  readonly invoke: (functionArn: string, event: unknown) => Promise<InvocationResult>;
  readonly onMetric: (metric: MetricValue) => void;
  readonly clock: QueueClock;
}

export interface LocalStateMachine {
  readonly arn: string;
  /** Amazon States Language, as it would be deployed. */
  readonly definition: string;
  /** Starts an execution and waits for its end. */
  start(input: unknown): Promise<ExecutionResult>;
}

const resourceSchema = z.strictObject({
  DefinitionString: z.string(),
  RoleArn: z.string(),
  StateMachineType: z.literal('STANDARD'),
});

const invokeSchema = z.strictObject({ FunctionName: z.string(), Payload: z.unknown() });

const putMetricDataSchema = z.strictObject({
  Namespace: z.string(),
  MetricData: z.array(
    z.strictObject({
      MetricName: z.string(),
      Dimensions: z.array(z.strictObject({ Name: z.string(), Value: z.string() })),
      Unit: z.string(),
      Value: z.number(),
    }),
  ),
});

/**
 * The stack's state machine; undefined if it has none.
 * @throws UnsupportedTemplateError for several, and for a definition with anything that is not known here
 */
export function readStateMachine(options: StateMachineOptions): LocalStateMachine | undefined {
  const { stack, clock } = options;
  const [resource, ...others] = stack.resourcesOf('AWS::StepFunctions::StateMachine');
  if (resource === undefined) return undefined;
  if (others.length > 0)
    throw new UnsupportedTemplateError('Cannot tell which state machine to run: there are several.');
  const { DefinitionString, RoleArn } = resource.read(resourceSchema, ['StateMachineName', 'Tags']);
  const parsed = stateMachineSchema.safeParse(JSON.parse(DefinitionString));
  if (!parsed.success)
    throw new UnsupportedTemplateError(`Cannot run ${resource.logicalId} locally: ${z.prettifyError(parsed.error)}`);
  const arn = resource.identity.ref;
  const role = readRole(stack, RoleArn, 'states.amazonaws.com', arn);

  const tasks = tasksOf(role, options);
  return {
    arn,
    definition: DefinitionString,
    start: async (input) => {
      const name = randomUUID();
      const invocations: InvocationResult[] = [];
      const runtime = {
        wait: (seconds: number) => clock.wait(seconds),
        perform: (Resource: string, parameters: unknown) => {
          const task = tasks[Resource.replace(/^arn:aws[a-z-]*:states:::/, '')];
          if (task === undefined)
            throw new UnsupportedTemplateError(`Cannot perform ${Resource}: it is not known here.`);
          return task(parameters, invocations);
        },
      };
      const context = { Execution: { Name: name, Input: input, StartTime: new Date(clock.now()).toISOString() } };
      try {
        await executeStates(parsed.data, input, context, runtime);
        return { name, invocations };
      } catch (error) {
        if (!(error instanceof StatesError)) throw error;
        return { name, invocations, failure: { error: error.error, cause: error.stateCause } };
      }
    },
  };
}

type Task = (parameters: unknown, invocations: InvocationResult[]) => Promise<unknown>;

/** What task states can do, by the end of the resource's ARN. */
function tasksOf(role: Caller, { invoke, onMetric }: StateMachineOptions): Readonly<Record<string, Task>> {
  return {
    'lambda:invoke': async (parameters, invocations) => {
      const { FunctionName, Payload } = invokeSchema.parse(parameters);
      const access = { action: 'lambda:InvokeFunction', resource: FunctionName };
      demand(role, access, 'Lambda.AWSLambdaException');
      const result = await invoke(FunctionName, Payload).catch((error: unknown) => {
        if (error instanceof ThrottledError) throw new StatesError('Lambda.TooManyRequestsException', error.message);
        throw error;
      });
      invocations.push(result);
      if (result.error !== undefined) throw new StatesError(result.error.errorType, JSON.stringify(result.error));
      return { ExecutedVersion: '$LATEST', Payload: result.payload, StatusCode: 200 };
    },
    'aws-sdk:cloudwatch:putMetricData': async (parameters) => {
      const { Namespace, MetricData } = putMetricDataSchema.parse(parameters);
      const context = { 'cloudwatch:namespace': Namespace };
      const access = { action: 'cloudwatch:PutMetricData', resource: '*', context };
      demand(role, access, 'CloudWatch.CloudWatchException');
      for (const { MetricName, Dimensions, Value } of MetricData)
        onMetric({
          namespace: Namespace,
          name: MetricName,
          value: Value,
          dimensions: Object.fromEntries(Dimensions.map((dimension) => [dimension.Name, dimension.Value])),
        });
      return {};
    },
  };
}

function demand(role: Caller, access: Access, error: string): void {
  const refusal = refusalOf(role, access);
  if (refusal !== undefined) throw new StatesError(error, refusal);
}
