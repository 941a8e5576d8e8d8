import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { environmentNames } from '../../lambda/stack-contract';
import { type LocalAwsOptions, startLocalAws } from '../aws/local-aws';
import { readBuckets } from './buckets';
import { EncryptionKeys } from './encryption-keys';
import { failureRecord, readAsynchronousSettings } from './failure-destination';
import { fireSchedule } from './fire-schedule';
import { type FunctionDefinition, readFunction } from './function-definition';
import { type AsynchronousResult, invokeAsynchronously, type QueueClock } from './invoke-asynchronously';
import { type InvocationResult, LocalFunction, type RoleCredentials } from './local-function';
import { type DeliveredMessage, LocalMessages } from './local-messages';
import { readAssembly } from './read-assembly';
import { readRole } from './role';
import { readSchedule, type Schedule } from './schedule';
import { readSecrets } from './secrets';
import { StackTemplate } from './stack-template';
import {
  type ExecutionResult,
  type LocalStateMachine,
  type MetricValue,
  readStateMachine,
} from './states/state-machine';
import { type Template, UnsupportedTemplateError } from './template';

export interface LocalDeploymentOptions extends Pick<LocalAwsOptions, 'intercept' | 'onRequest'> {
  /** The folder that `cdk synth` wrote, or what `app.synth()` returned: one stack. It must stay until {@link LocalDeployment.close}. */
  readonly assembly: CloudAssembly | string;
  /** Where the archive's objects lie; made if it is absent, and kept afterwards. */
  readonly folder: string;
  /** Value of the secret that the function reads; left out: as the template leaves it. */
  readonly secretValue?: string;
  /** Changes a copy of the template before it is deployed. */
  readonly edit?: (template: Template) => void;
  /** Told about each line that the function writes. */
  readonly onLog?: (line: string) => void;
  /** Left out: the waits before Lambda's retries take no time. */
  readonly clock?: QueueClock;
}

/** What came of a firing of the schedule. */
export interface FiredResult extends AsynchronousResult {
  /** The execution, if the schedule starts the state machine; its name is the request id, `attempts` are of all shards. */
  readonly execution?: ExecutionResult;
}

/** A stack that runs on one's own machine, its policies enforced. */
export interface LocalDeployment {
  /** The embedded endpoint: `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly region: string;
  /** With which the function's role calls the endpoint. */
  readonly credentials: RoleCredentials;
  /** Name of the archive's bucket at the endpoint. */
  readonly bucket: string | undefined;
  /** What the template says about the function. */
  readonly definition: FunctionDefinition;
  readonly schedule: Schedule | undefined;
  /** Works on a fleet in shards; undefined if the stack has none. */
  readonly stateMachine: LocalStateMachine | undefined;
  /** Messages that reached the stack's topics and queues, oldest first. */
  readonly messages: readonly DeliveredMessage[];
  /** What the state machine put to CloudWatch, oldest first. */
  readonly metrics: readonly MetricValue[];
  /** Lines that the function wrote, oldest first. */
  readonly logs: readonly string[];
  /**
   * The stack's outputs by their logical ids.
   * @throws UnsupportedTemplateError for an output that cannot be resolved
   */
  outputs(): Record<string, string>;
  /** Invokes and waits for the answer, as the console's Test button does. */
  invoke(event?: unknown): Promise<InvocationResult>;
  /**
   * Hands the event to Lambda's queue and waits until it is worked through.
   * @throws MessageRefusedError if it failed for good and its failure record was refused too
   */
  invokeAsync(event?: unknown): Promise<AsynchronousResult>;
  /**
   * Does what EventBridge Scheduler does at a time of the schedule, and waits until what it started has ended.
   * @throws ScheduleError if the schedule is disabled or may not deliver
   * @throws MessageRefusedError as {@link LocalDeployment.invokeAsync}
   */
  fireSchedule(time: Date): Promise<FiredResult>;
  /** Sets or, with undefined, takes away the value of the secret that the function reads. */
  setSecretValue(value: string | undefined): void;
  /** Ends the function's processes, with what they are doing, and the endpoint. */
  close(): Promise<void>;
}

const roleSession: RoleCredentials = {
  accessKeyId: 'ASIALOCALDEPLOYMENT0',
  secretAccessKey: 'local-secret',
  sessionToken: 'local-session',
};

/**
 * Stands a synthesised stack up in the embedded endpoint: buckets over a folder, secrets, and the function in processes
 * of its own, with the template's environment, limits and policies.
 * @throws UnsupportedTemplateError for anything it would have to leave out
 */
export async function deployLocally(options: LocalDeploymentOptions): Promise<LocalDeployment> {
  const synthesized = readAssembly(options.assembly);
  const template = structuredClone(synthesized.template);
  options.edit?.(template);
  const location = {
    stackName: synthesized.stackName,
    accountId: synthesized.accountId ?? '111122223333',
    region: synthesized.region ?? 'eu-central-1',
  };
  const stack = new StackTemplate(template, location);
  const [resource, ...others] = stack.resourcesOf('AWS::Lambda::Function');
  if (resource === undefined || others.length > 0)
    throw new UnsupportedTemplateError(
      `Cannot deploy locally: expected one function, found ${others.length && others.length + 1}.`,
    );

  const definition = readFunction(resource, synthesized);
  const role = readRole(stack, definition.roleArn, { principal: 'lambda.amazonaws.com', sourceArn: definition.arn });
  const asynchronous = readAsynchronousSettings(stack, definition);
  const schedule = readSchedule(stack);
  const keys = new EncryptionKeys(stack);
  const messages = new LocalMessages(stack, keys);
  const buckets = readBuckets(stack, definition, options.folder);
  const logs: string[] = [];
  const aws = await startLocalAws({
    ...location,
    principals: [{ ...roleSession, arn: role.arn, policies: role.policies }],
    buckets,
    secrets: readSecrets(stack, definition, options.secretValue),
    intercept: (request) => keys.faultOf(role, request) ?? options.intercept?.(request),
    ...(options.onRequest !== undefined && { onRequest: options.onRequest }),
  });
  const lambda = new LocalFunction({
    definition,
    endpoint: aws.url,
    region: location.region,
    credentials: roleSession,
    onLine: (line) => {
      logs.push(line);
      options.onLog?.(line);
    },
  });
  const clock = options.clock ?? { now: () => Date.now(), wait: async () => {} };

  const invokeAsync = async (event: unknown = {}): Promise<AsynchronousResult> => {
    const result = await invokeAsynchronously((requestId) => lambda.invoke(event, requestId), asynchronous, clock);
    if (result.condition !== undefined && asynchronous.failureDestination !== undefined)
      messages.send(asynchronous.failureDestination, role, JSON.stringify(failureRecord(definition, event, result)));
    return result;
  };

  const metrics: MetricValue[] = [];
  const stateMachine = readStateMachine({
    stack,
    definition,
    clock,
    invoke: (event) => lambda.invoke(event),
    onMetric: (metric) => metrics.push(metric),
  });
  const fire = async (time: Date): Promise<FiredResult> => {
    if (stateMachine === undefined || schedule?.targetArn !== stateMachine.arn) {
      const target = { arn: definition.arn, action: 'lambda:InvokeFunction' };
      return invokeAsync(fireSchedule(stack, schedule, target, messages, time));
    }
    const target = { arn: stateMachine.arn, action: 'states:StartExecution' };
    const execution = await stateMachine.start(fireSchedule(stack, schedule, target, messages, time));
    return {
      execution,
      requestId: execution.name,
      attempts: execution.invocations,
      ...(execution.failure !== undefined && { condition: 'RetriesExhausted' }),
    };
  };

  return {
    url: aws.url,
    region: location.region,
    credentials: roleSession,
    bucket: buckets[0]?.name,
    definition,
    schedule,
    stateMachine,
    messages: messages.delivered,
    metrics,
    logs,
    outputs: () => stack.outputs(),
    invoke: (event = {}) => lambda.invoke(event),
    invokeAsync,
    fireSchedule: fire,
    setSecretValue: (value) => aws.setSecretValue(definition.environment[environmentNames.apiKeySecret] ?? '', value),
    close: async () => {
      await lambda.close();
      await aws.close();
    },
  };
}
