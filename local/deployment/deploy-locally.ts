import { tmpdir } from 'node:os';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { environmentNames } from '../../lambda/stack-contract';
import { refusalOf } from '../aws/iam/authorize';
import { type LocalAwsOptions, startLocalAws } from '../aws/local-aws';
import { removeLeftovers } from '../aws/store/leftovers';
import type { AsynchronousResult, QueueClock } from './asynchronous-invocation';
import { readBuckets, readSecrets } from './buckets-and-secrets';
import { type AroundInvocation, DeployedFunction, type FunctionPlan, planFunctions } from './deployed-function';
import type { FunctionDefinition } from './function-definition';
import { type InvocationResult, type RoleCredentials, workFolderPrefix } from './local-function';
import { type DeliveredMessage, LocalMessages, MessageRefusedError } from './local-messages';
import { readAssembly } from './read-assembly';
import type { Role } from './role';
import { fireSchedule, readSchedule, type Schedule } from './schedule';
import { publicKeyFileOf, readSigningKeys } from './signing-keys';
import { StackTemplate, type Template, UnsupportedTemplateError } from './stack-template';
import {
  type ExecutionResult,
  type LocalStateMachine,
  type MetricValue,
  readStateMachine,
} from './states/state-machine';

export interface LocalDeploymentOptions extends Pick<LocalAwsOptions, 'around' | 'onRequest'> {
  /** The folder that `cdk synth` wrote, or what `app.synth()` returned: one stack. It must stay until {@link LocalDeployment.close}. */
  readonly assembly: CloudAssembly | string;
  /** Where the archive's objects lie; made if it is absent, and kept afterwards. */
  readonly folder: string;
  /** Value of the secret that the function reads; left out: as in the template. */
  readonly secretValue?: string;
  /** Changes a copy of the template before it is deployed. */
  readonly edit?: (template: Template) => void;
  /** Called with each line that the function writes. */
  readonly onLog?: (line: string) => void;
  /** Left out: every invocation reaches the function. */
  readonly aroundInvocation?: AroundInvocation;
  /** Left out: Lambda's waits before a retry take no time. */
  readonly clock?: QueueClock;
}

/** The result of a firing of the schedule. */
export interface FiredResult extends AsynchronousResult {
  /** The execution, if the schedule starts the state machine; its name is the request id, `attempts` are of all shards. */
  readonly execution?: ExecutionResult;
}

/** A function of the stack, with its role and its schedule. */
export interface ScheduledFunction {
  /** What the template says about the function. */
  readonly definition: FunctionDefinition;
  /** With which the function's role calls the endpoint. */
  readonly credentials: RoleCredentials;
  readonly schedule: Schedule | undefined;
  /**
   * Invokes the function and waits for the answer, as the console's Test button does.
   * @throws ThrottledError if its reserved concurrency is in use
   */
  invoke(event?: unknown): Promise<InvocationResult>;
  /**
   * Does what EventBridge Scheduler does at a time of the schedule, and waits until what it started has ended.
   * @throws ScheduleError if the schedule is disabled or may not deliver
   * @throws MessageRefusedError as {@link LocalDeployment.invokeAsync}
   */
  fireSchedule(time: Date): Promise<FiredResult>;
}

/** The function that verifies and seals the archive. */
export interface LocalAudit extends ScheduledFunction {
  /** File with the public key of the seals, in PEM. */
  readonly publicKeyFile: string;
}

/** A stack that runs on one's own machine, its policies enforced; itself the function that collects. */
export interface LocalDeployment extends ScheduledFunction {
  /** The embedded endpoint: `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly region: string;
  /** Name of the archive's bucket at the endpoint. */
  readonly bucket: string | undefined;
  /** Works on a fleet in shards; undefined if the stack has none. */
  readonly stateMachine: LocalStateMachine | undefined;
  /** Undefined if the stack has no audit. */
  readonly audit: LocalAudit | undefined;
  /** Messages that reached the stack's topics and queues, oldest first. */
  readonly messages: readonly DeliveredMessage[];
  /** What the state machine put to CloudWatch, oldest first. */
  readonly metrics: readonly MetricValue[];
  /** Lines that the functions wrote, oldest first. */
  readonly logs: readonly string[];
  /**
   * Puts the event into Lambda's queue and waits until Lambda is done with it.
   * @throws MessageRefusedError if it failed for good and its failure record was refused too
   */
  invokeAsync(event?: unknown): Promise<AsynchronousResult>;
  /** Sets or, with undefined, takes away the value of the secret that the function reads. */
  setSecretValue(value: string | undefined): void;
  /** Ends the functions' processes, with what they are doing, and the endpoint. */
  close(): Promise<void>;
}

/**
 * Runs a synthesised stack against the embedded endpoint: the bucket over a folder, the secrets, the signing key, and each
 * function in processes of its own, with the template's environment, limits and policies.
 * @throws UnsupportedTemplateError for anything in the template that it would have to leave out
 */
export async function deployLocally(options: LocalDeploymentOptions): Promise<LocalDeployment> {
  const assembly = readAssembly(options.assembly);
  const template = structuredClone(assembly.template);
  options.edit?.(template);
  const location = {
    stackName: assembly.stackName,
    accountId: assembly.accountId ?? '111122223333',
    region: assembly.region ?? 'eu-central-1',
  };
  const stack = new StackTemplate(template, location);
  const { plan, auditPlan, failurePlan } = planFunctions(stack, assembly);
  const { definition } = plan;
  const plans = [plan, auditPlan, failurePlan].filter((one) => one !== undefined);
  const isOfAudit = ({ targetArn }: Schedule) => targetArn === auditPlan?.definition.arn;
  const schedule = readSchedule(stack, (one) => !isOfAudit(one));
  const messages = new LocalMessages(stack);
  const buckets = readBuckets(stack, definition, options.folder);
  const clock = options.clock ?? { now: () => Date.now(), wait: async () => {} };
  const metrics: MetricValue[] = [];
  const stateMachine = readStateMachine({
    stack,
    clock,
    invoke: (functionArn, event) => {
      if (functionArn === definition.arn) return lambda.invoke(event);
      throw new UnsupportedTemplateError(`Cannot invoke ${functionArn}: it does not run locally.`);
    },
    onMetric: (metric) => metrics.push(metric),
  });
  const signingKeys = readSigningKeys(stack, options.folder);
  const aws = await startLocalAws({
    region: location.region,
    principals: plans.map((one) => ({ ...one.credentials, ...one.role })),
    buckets,
    secrets: readSecrets(stack, definition, options.secretValue),
    signingKeys,
    publish: (principal, message) => messages.publish(principal, message),
    ...(options.around !== undefined && { around: options.around }),
    ...(options.onRequest !== undefined && { onRequest: options.onRequest }),
  });
  await removeLeftovers(tmpdir(), workFolderPrefix);
  const logs: string[] = [];
  const surroundings = {
    endpoint: aws.url,
    region: location.region,
    clock,
    tell: async (destination: string, role: Role, record: object) => {
      if (teller === undefined || destination !== failurePlan?.definition.arn)
        return messages.send(destination, role, JSON.stringify(record));
      const refusal = refusalOf(role, { action: 'lambda:InvokeFunction', resource: destination });
      if (refusal !== undefined) throw new MessageRefusedError(`Message to ${destination} refused: ${refusal}.`);
      await teller.invokeAsync(record);
    },
    aroundInvocation: options.aroundInvocation ?? ((_event, invoke) => invoke()),
    onLine: (line: string) => {
      logs.push(line);
      options.onLog?.(line);
    },
  };
  const lambda = new DeployedFunction(plan, surroundings);
  const auditor = auditPlan && new DeployedFunction(auditPlan, surroundings);
  // A test that stands between the caller and a function means the others.
  const teller =
    failurePlan &&
    new DeployedFunction(failurePlan, { ...surroundings, aroundInvocation: (_event, invoke) => invoke() });
  const scheduled = (
    { definition, credentials }: FunctionPlan,
    deployed: DeployedFunction,
    schedule: Schedule | undefined,
  ): ScheduledFunction => ({
    definition,
    credentials,
    schedule,
    invoke: (event = {}) => deployed.invoke(event),
    fireSchedule: async (time) => {
      const event = fireSchedule(stack, schedule, messages, time);
      if (schedule?.targetArn === definition.arn) return deployed.invokeAsync(event);
      if (stateMachine === undefined || schedule?.targetArn !== stateMachine.arn)
        throw new UnsupportedTemplateError(`Cannot fire the schedule: ${schedule?.targetArn} does not run locally.`);
      return firedResult(await stateMachine.start(event));
    },
  });

  return {
    ...scheduled(plan, lambda, schedule),
    url: aws.url,
    region: location.region,
    bucket: buckets[0]?.name,
    stateMachine,
    audit: auditor &&
      auditPlan && {
        ...scheduled(auditPlan, auditor, readSchedule(stack, isOfAudit)),
        publicKeyFile: publicKeyFileOf(auditPlan.definition, signingKeys),
      },
    messages: messages.delivered,
    metrics,
    logs,
    invokeAsync: (event = {}) => lambda.invokeAsync(event),
    setSecretValue: (value) => aws.setSecretValue(definition.environment[environmentNames.apiKeySecret] ?? '', value),
    close: async () => {
      await Promise.all([lambda.close(), auditor?.close(), teller?.close()]);
      await aws.close();
    },
  };
}

function firedResult(execution: ExecutionResult): FiredResult {
  const { name: requestId, invocations: attempts, failure } = execution;
  return { execution, requestId, attempts, ...(failure !== undefined && { condition: 'RetriesExhausted' }) };
}
