import { auditEnvironmentNames, failureEnvironmentNames } from '../../lambda/stack-contract';
import {
  type AsynchronousResult,
  type AsynchronousSettings,
  failureRecord,
  invokeAsynchronously,
  type QueueClock,
  readAsynchronousSettings,
  ThrottledError,
} from './asynchronous-invocation';
import { type FunctionDefinition, readFunction } from './function-definition';
import { type InvocationResult, LocalFunction, type RoleCredentials } from './local-function';
import type { SynthesizedStack } from './read-assembly';
import { type Role, readRole } from './role';
import { type StackResource, type StackTemplate, UnsupportedTemplateError } from './stack-template';

/** A function of the template with all that the stack says about it. */
export interface FunctionPlan {
  readonly definition: FunctionDefinition;
  readonly role: Role;
  /** With which the role calls the endpoint. */
  readonly credentials: RoleCredentials;
  readonly asynchronous: AsynchronousSettings;
}

/** The functions of a stack. */
export interface FunctionPlans {
  readonly plan: FunctionPlan;
  /** Of the function that audits, which alone has a signing key; undefined if the stack has none. */
  readonly auditPlan: FunctionPlan | undefined;
  /** Of the function that tells people of failures; undefined if the stack has none. */
  readonly failurePlan: FunctionPlan | undefined;
}

/** @throws UnsupportedTemplateError for what Lambda would reject or a local deployment does not know */
export function planFunctions(stack: StackTemplate, assembly: SynthesizedStack): FunctionPlans {
  const plans = stack.resourcesOf('AWS::Lambda::Function').map((resource) => planFunction(stack, resource, assembly));
  const isAudit = ({ definition }: FunctionPlan) => auditEnvironmentNames.signingKeyArn in definition.environment;
  const tells = ({ definition }: FunctionPlan) => failureEnvironmentNames.topicArn in definition.environment;
  const collectors = plans.filter((one) => !isAudit(one) && !tells(one));
  const audits = plans.filter(isAudit);
  const [plan] = collectors;
  if (plan === undefined || collectors.length > 1 || audits.length > 1)
    throw new UnsupportedTemplateError(
      `Cannot deploy locally: expected one function, found ${collectors.length}, and at most one that audits, found ${audits.length}.`,
    );
  return { plan, auditPlan: audits[0], failurePlan: plans.find((one) => tells(one) && !isAudit(one)) };
}

function planFunction(stack: StackTemplate, resource: StackResource, assembly: SynthesizedStack): FunctionPlan {
  const definition = readFunction(resource, assembly);
  return {
    definition,
    role: readRole(stack, definition.roleArn, { principal: 'lambda.amazonaws.com', sourceArn: definition.arn }),
    credentials: {
      accessKeyId: `ASIA${resource.logicalId.toUpperCase()}`,
      secretAccessKey: 'local-secret',
      sessionToken: 'local-session',
    },
    asynchronous: readAsynchronousSettings(stack, definition.name),
  };
}

/**
 * Stands between whoever invokes the function and the function.
 * @param invoke invokes it; what it resolves to is the function's own answer
 */
export type AroundInvocation = (event: unknown, invoke: () => Promise<InvocationResult>) => Promise<InvocationResult>;

/** What all functions of a deployment share. */
export interface FunctionSurroundings {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  readonly region: string;
  readonly clock: QueueClock;
  /**
   * Hands over the record of an event that failed for good.
   * @throws MessageRefusedError
   */
  readonly tell: (destination: string, role: Role, record: object) => Promise<void>;
  readonly onLine: (line: string) => void;
  readonly aroundInvocation: AroundInvocation;
}

/** A function that runs locally. */
export class DeployedFunction {
  readonly #plan: FunctionPlan;
  readonly #surroundings: FunctionSurroundings;
  readonly #lambda: LocalFunction;
  /** Invocations under way. */
  readonly #running = new Set<Promise<unknown>>();

  constructor(plan: FunctionPlan, surroundings: FunctionSurroundings) {
    this.#plan = plan;
    this.#surroundings = surroundings;
    const { definition, credentials } = plan;
    const { endpoint, region, onLine } = surroundings;
    this.#lambda = new LocalFunction({ definition, credentials, endpoint, region, onLine });
  }

  /**
   * Invokes and waits for the answer.
   * @throws ThrottledError if its reserved concurrency is in use
   */
  async invoke(event: unknown, requestId?: string): Promise<InvocationResult> {
    const { name, reservedConcurrency = Number.POSITIVE_INFINITY } = this.#plan.definition;
    if (this.#running.size >= reservedConcurrency) throw new ThrottledError(name);
    const invocation = this.#surroundings
      .aroundInvocation(event, () => this.#lambda.invoke(event, requestId))
      .finally(() => this.#running.delete(invocation));
    this.#running.add(invocation);
    return invocation;
  }

  /**
   * Puts the event into Lambda's queue and waits until Lambda is done with it.
   * @throws MessageRefusedError if it failed for good and its failure record was refused too
   */
  async invokeAsync(event: unknown): Promise<AsynchronousResult> {
    const { asynchronous, definition, role } = this.#plan;
    const { clock, tell } = this.#surroundings;
    const queued = {
      invoke: (requestId: string) => this.invoke(event, requestId),
      turn: () => Promise.race([...this.#running].map((invocation) => invocation.catch(() => undefined))),
    };
    const result = await invokeAsynchronously(queued, asynchronous, clock);
    if (result.condition !== undefined && asynchronous.failureDestination !== undefined)
      await tell(asynchronous.failureDestination, role, failureRecord(definition.arn, event, result));
    return result;
  }

  /** Ends the function's processes, with what they are doing. */
  close(): Promise<void> {
    return this.#lambda.close();
  }
}
