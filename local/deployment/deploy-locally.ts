import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import type { LocalAwsOptions } from '../aws/aws-endpoint';
import type { Bucket, DeliveredMessage, Principal } from '../aws/call';
import { type Caller, refusalOf } from '../aws/iam/authorize';
import { startLocalAws } from '../aws/local-aws';
import { readBucket, readSecrets } from './bucket-and-secret';
import type { InvocationResult } from './execution-environment';
import { type FunctionDefinition, readFunction } from './function-definition';
import { type AsynchronousResult, LocalFunction, type LocalFunctionOptions } from './local-function';
import { LocalMessages } from './local-messages';
import { readAssembly } from './read-assembly';
import { fireSchedule, readSchedules, type Schedule } from './schedule';
import { type LocalShards, readShards } from './shards';
import { keyFile, readSigningKeys } from './signing-keys';
import { StackTemplate, type Template, UnsupportedTemplateError } from './stack-template';

export interface LocalDeploymentOptions
  extends Pick<LocalAwsOptions, 'around' | 'onRequest'>,
    Pick<LocalFunctionOptions, 'givesUp'> {
  /** What `app.synth()` returned: one stack. Its folder must stay until {@link LocalDeployment.close}. */
  readonly assembly: CloudAssembly;
  /** Where the archive's objects lie; made if it is absent, and kept afterwards. */
  readonly folder: string;
  /** Buckets beside the stack's; left out: none. */
  readonly otherBuckets?: readonly Bucket[];
  /** In the place of the embedded S3; left out: that one, over the folder. */
  readonly s3?: OtherS3;
  /** Value of the secret that the function reads; left out: it has none. */
  readonly secretValue?: string | undefined;
  /** Value of the secret that names a monitoring service outside; left out: it has none, and nobody outside is told. */
  readonly heartbeatAddress?: string | undefined;
  /** Changes a copy of the template before it is deployed. */
  readonly edit?: (template: Template) => void;
  /** Called with each line that the function writes. */
  readonly onLog?: (line: string) => void;
}

/**
 * An S3 that the functions call in the place of the embedded one. It judges their calls itself, and knows of the stack only
 * what it was told.
 */
export interface OtherS3 {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Lets a role of the stack in, as its policies say. @returns what signs its calls, of every service */
  admit(role: Caller): Promise<Required<Omit<Principal, keyof Caller>>>;
}

/** The stack's policies refuse a message: on AWS it would be lost, and only a metric would count it. */
export class MessageRefusedError extends Error {
  override readonly name = 'MessageRefusedError';
}

/** A function of the stack, with its schedule. */
export interface ScheduledFunction {
  readonly definition: FunctionDefinition;
  /** Invokes the function and waits for the answer, as the console's Test button does. */
  invoke(event?: unknown): Promise<InvocationResult>;
  /**
   * Does what EventBridge Scheduler does at a time of the schedule, and waits until what it started has ended.
   * @throws ScheduleError if the schedule is disabled or may not deliver
   * @throws MessageRefusedError as {@link LocalDeployment.invokeAsync}
   */
  fireSchedule(time: Date): Promise<AsynchronousResult>;
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
  readonly bucket: string;
  /** Stands in for the state machine; undefined if the stack has none. */
  readonly shards: LocalShards | undefined;
  /** Undefined if the stack has no audit. */
  readonly audit: LocalAudit | undefined;
  /** Messages that reached the stack's topics and queues, oldest first. */
  readonly messages: readonly DeliveredMessage[];
  /** Lines that the functions wrote, oldest first. */
  readonly logs: readonly string[];
  /**
   * Puts the event into Lambda's queue and waits until Lambda is done with it.
   * @throws MessageRefusedError if it failed for good and its failure record was refused too
   */
  invokeAsync(event?: unknown): Promise<AsynchronousResult>;
  /** Ends the functions' processes, with what they are doing, and the endpoint. */
  close(): Promise<void>;
}

/**
 * Runs a synthesised stack against the embedded endpoint: the bucket over a folder, the secrets, the signing key, and each
 * function in processes of its own, with the template's environment, limits and policies.
 * @throws UnsupportedTemplateError for anything in the template that it would have to leave out
 */
export async function deployLocally(options: LocalDeploymentOptions): Promise<LocalDeployment> {
  const { location, template: synthesised } = readAssembly(options.assembly);
  const template = structuredClone(synthesised);
  options.edit?.(template);
  const stack = new StackTemplate(template, location);
  const definitions: FunctionDefinition[] = [];
  for (const resource of stack.resourcesOf('AWS::Lambda::Function')) {
    const definition = readFunction(stack, resource, options.assembly.directory);
    const role = { ...definition.role, ...(await options.s3?.admit(definition.role)) };
    definitions.push({ ...definition, role });
  }
  const collector = collectorOf(definitions);
  const audit = definitions.find(({ environment }) => 'SIGNING_KEY_ARN' in environment);
  const messages = new LocalMessages(stack);
  const bucket = readBucket(stack, collector, options.folder);
  const logs: string[] = [];
  const functions = new Map<string, LocalFunction>();
  const functionOf = (arn: string): LocalFunction => {
    const found = functions.get(arn);
    if (found === undefined) throw new UnsupportedTemplateError(`Cannot invoke ${arn}: it does not run locally.`);
    return found;
  };
  const shards = readShards(stack, collector.arn, (event) => functionOf(collector.arn).attempt(event));
  const { region } = location;
  const aws = await startLocalAws({
    region,
    principals: definitions.map(({ role }) => role),
    buckets: [bucket, ...(options.otherBuckets ?? [])],
    secrets: readSecrets(stack, collector, options),
    signingKeys: readSigningKeys(stack, options.folder),
    publish: (principal, message) => messages.send(principal, message),
    around: options.around,
    onRequest: options.onRequest,
  });
  for (const definition of definitions)
    functions.set(
      definition.arn,
      new LocalFunction({
        definition,
        endpoint: aws.url,
        endpointOfS3: options.s3?.url,
        region,
        givesUp: options.givesUp,
        tell: async (to, record) => {
          const receiver = functions.get(to);
          const refusal =
            receiver === undefined
              ? messages.send(definition.role, { to, body: JSON.stringify(record) })
              : refusalOf(definition.role, { action: 'lambda:InvokeFunction', resource: to });
          if (refusal !== undefined) throw new MessageRefusedError(refusal);
          await receiver?.invokeAsync(record);
        },
        onLine: (line) => {
          logs.push(line);
          options.onLog?.(line);
        },
      }),
    );
  const schedules = readSchedules(stack);
  const scheduled = (definition: FunctionDefinition): ScheduledFunction => ({
    definition,
    invoke: (event) => functionOf(definition.arn).invoke(event),
    fireSchedule: async (time) => {
      // The collector's starts the collector, or the state machine.
      const isOfAudit = ({ Target }: Schedule) => Target.Arn === audit?.arn;
      const own = schedules.find((schedule) => isOfAudit(schedule) === (definition === audit));
      const { event, target } = fireSchedule(stack, own, messages, time);
      return target === shards?.arn ? shards.start(event) : functionOf(target).invokeAsync(event);
    },
  });

  return {
    ...scheduled(collector),
    url: aws.url,
    region,
    bucket: bucket.name,
    shards,
    audit: audit && {
      ...scheduled(audit),
      publicKeyFile: keyFile(options.folder, audit.environment.SIGNING_KEY_ARN ?? '', '.public.pem'),
    },
    messages: messages.delivered,
    logs,
    invokeAsync: (event) => functionOf(collector.arn).invokeAsync(event),
    close: async () => {
      await Promise.all([...functions.values()].map((one) => one.close()));
      await aws.close();
    },
  };
}

/** The function that reads the service. */
function collectorOf(definitions: readonly FunctionDefinition[]): FunctionDefinition {
  const collectors = definitions.filter(({ environment }) => 'API_KEY_SECRET' in environment);
  const [collector] = collectors;
  if (collector !== undefined && collectors.length === 1) return collector;
  throw new UnsupportedTemplateError(`Cannot deploy locally: expected one function, found ${collectors.length}.`);
}
