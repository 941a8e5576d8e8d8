import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { LocalDeployment } from '../../../local/deployment/deploy-locally';
import type { AsynchronousResult } from '../../../local/deployment/local-function';
import { listenLocally } from '../../../local/listen-locally';
import { type TemplateJson, templateOf } from '../../infra/example-stack';
import { type Answer, accountId, escaped, LiveAccount, region } from './live-account';

export const stackName = 'my-collector';
export { accountId };

/** What a person's commands ask AWS for, answered from a local deployment over real sockets. */
export interface ControlPlane {
  /** Every call, as `service:action`; of S3 the method alone, or `List`; of an invocation with its type. */
  readonly calls: readonly string[];
  /** What the function or the state machine was started with, oldest first. */
  readonly events: readonly unknown[];
  /** State of the stack from now on. */
  status: string;
  /** Subscriptions of the topic: protocol, address, and ARN or `PendingConfirmation`. Undefined: they may not be listed. */
  subscriptions: readonly (readonly [protocol: string, endpoint: string, arn: string])[] | undefined;
  /** Subscriptions of the other group's topic; undefined: the stack has no such topic. */
  informed: ControlPlane['subscriptions'] | undefined;
  /** What S3, KMS and IAM say of the stack's resources. */
  readonly live: LiveAccount;
  /** Answers of another kind, by the name of a call and the path of its address; undefined: the usual one. */
  instead: (call: string, path: string) => Answer | undefined;
  /** Days after which the deployed archive expires, or `never`. */
  retentionDays: string;
  /** What the monitoring service outside did not take: how many, and in which hour. */
  heartbeatsLost: readonly (readonly [lost: number, hour: Date])[];
  /** Limits of Lambda in the account. */
  concurrency: { readonly ConcurrentExecutions: number; readonly UnreservedConcurrentExecutions: number };
  /** Further outputs of the stack. */
  outputs: Readonly<Record<string, string>>;
  /** Resolves when everything that was started asynchronously has ended. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Sets the variables of this process with which the SDK calls it. S3 and Secrets Manager are the deployment's own endpoint. */
export async function startControlPlane(
  deployment: LocalDeployment,
  template: TemplateJson = templateOf(),
): Promise<ControlPlane> {
  const calls: string[] = [];
  const events: unknown[] = [];
  const running: Promise<unknown>[] = [];
  const executions = new Map<string, AsynchronousResult | undefined>();
  const { definition, shards } = deployment;
  const topic = `arn:aws:sns:${region}:${accountId}:alerts`;

  const live = new LiveAccount(template, stackName, {
    CollectorFunctionE9933A71: definition.name,
    ArchiveBucket49F1AC64: deployment.bucket,
    ...(shards !== undefined && { FanOutStateMachineD6078A7F: shards.arn }),
  });

  const queries: Record<string, (parameters: URLSearchParams) => string | undefined> = {
    DescribeStacks: (parameters) => {
      if (parameters.get('StackName') !== stackName) return undefined;
      const outputs = [
        ['ArchiveBucket', deployment.bucket],
        ['AlertTopic', topic],
        ['RetentionDays', plane.retentionDays],
        ...Object.entries(plane.outputs),
      ];
      if (plane.informed !== undefined) outputs.push(['InformTopic', `${topic}-inform`]);
      const stack = {
        ...{ StackName: stackName, StackStatus: plane.status, CreationTime: '2026-11-01T00:00:00Z' },
        StackId: `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/1`,
        Outputs: members(outputs, ([OutputKey = '', OutputValue = '']) => ({
          OutputKey,
          OutputValue: escaped(OutputValue),
        })),
      };
      return `<Stacks>${members([stack], (members) => members)}</Stacks>`;
    },
    ListStackResources: () =>
      `<StackResourceSummaries>${members(live.resources, ([logicalId, type, id]) => ({
        ...{ LogicalResourceId: logicalId, ResourceType: type, PhysicalResourceId: id },
        ...{ ResourceStatus: 'CREATE_COMPLETE', LastUpdatedTimestamp: '2026-11-01T00:00:00Z' },
      }))}</StackResourceSummaries>`,
    ListSubscriptionsByTopic: (parameters) => {
      const found = parameters.get('TopicArn') === topic ? plane.subscriptions : (plane.informed ?? []);
      return (
        found &&
        `<Subscriptions>${members(found, ([Protocol, Endpoint, SubscriptionArn]) => ({ Protocol, Endpoint, SubscriptionArn }))}</Subscriptions>`
      );
    },
  };

  async function answer(request: IncomingMessage, body: string): Promise<Answer> {
    const target = String(request.headers['x-amz-target'] ?? '');
    if (target === `${cloudWatch}GetMetricStatistics`) return { body: statistics(JSON.parse(body)) };
    if (target.startsWith('AWSStepFunctions.'))
      return { body: await stepFunctions(target.slice(17), JSON.parse(body)) };
    if (request.url?.startsWith('/2015-03-31/functions/')) return lambda(request, body);
    if (request.url?.startsWith(accountSettings)) return { body: JSON.stringify({ AccountLimit: plane.concurrency }) };
    const parameters = new URLSearchParams(body);
    const action = parameters.get('Action') ?? '';
    const result = queries[action]?.(parameters);
    if (result === undefined)
      return {
        status: 400,
        body: `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${parameters.get('StackName')} does not exist</Message></Error></ErrorResponse>`,
      };
    return { body: `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>` };
  }

  /** Of the metric and the hours that are asked for. */
  function statistics(asked: { MetricName: string; StartTime: number; EndTime: number }): string {
    const points = plane.heartbeatsLost.map(([Sum, hour]) => ({
      Sum,
      Timestamp: hour.getTime() / 1000,
      Unit: 'Count',
    }));
    const isAsked = ({ Timestamp }: { Timestamp: number }) => asked.StartTime <= Timestamp && Timestamp < asked.EndTime;
    return JSON.stringify({ Label: asked.MetricName, Datapoints: points.filter(isAsked) });
  }

  async function lambda(request: IncomingMessage, body: string) {
    if (request.method === 'GET') {
      return {
        body: JSON.stringify({ FunctionName: definition.name, Environment: { Variables: definition.environment } }),
      };
    }
    const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
    const event = JSON.parse(body);
    events.push(event);
    if (type === 'Event') {
      running.push(deployment.invokeAsync(event));
      return { status: 202, body: '' };
    }
    const result = await deployment.invoke(event);
    if (result.error === undefined) return { body: JSON.stringify(result.payload) };
    return { headers: { 'X-Amz-Function-Error': 'Unhandled' }, body: JSON.stringify(result.error) };
  }

  async function stepFunctions(action: string, input: { input?: string; executionArn?: string }): Promise<string> {
    if (action === 'StartExecution') {
      const event = JSON.parse(input.input ?? '{}');
      events.push(event);
      const executionArn = `${shards?.arn.replace(':stateMachine:', ':execution:')}:${executions.size + 1}`;
      executions.set(executionArn, undefined);
      running.push((shards?.start(event) ?? Promise.reject()).then((ended) => executions.set(executionArn, ended)));
      return JSON.stringify({ executionArn, startDate: 1 });
    }
    const ended = executions.get(input.executionArn ?? '');
    const status = ended === undefined ? 'RUNNING' : ended.failure === undefined ? 'SUCCEEDED' : 'FAILED';
    return JSON.stringify({ executionArn: input.executionArn, status, cause: ended?.failure?.errorMessage });
  }

  /** What the deployment's own endpoint answers. */
  function pass(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { method, headers, url = '' } = request;
    const passed = forward(`${deployment.url}${url}`, { method, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(response);
    });
    passed.on('error', () => response.destroy());
    passed.end(body);
  }
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const body = bytes.toString();
    const call = live.callOf(request, body) ?? nameOf(request, body);
    const instead = plane.instead(call, new URL(request.url ?? '', 'http://aws').pathname);
    const isLive = live.callOf(request, body) !== undefined;
    calls.push(call);
    if (instead === undefined && !isLive && /^(s3|secretsmanager):/.test(call)) return pass(request, bytes, response);
    const {
      status = 200,
      headers = {},
      body: answered,
    } = instead ?? (isLive ? live.answer(call, request, body) : await answer(request, body));
    response.writeHead(status, { ...headers, 'x-amzn-requestid': 'r' }).end(answered);
  }
  const answering = createServer((request, response) => void serve(request, response));
  const server = await listenLocally(answering);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: server.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: deployment.definition.role.accessKeyId,
    AWS_SECRET_ACCESS_KEY: deployment.definition.role.secretAccessKey,
    AWS_SESSION_TOKEN: deployment.definition.role.sessionToken ?? '',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
  const plane: ControlPlane = {
    calls,
    events,
    status: 'CREATE_COMPLETE',
    subscriptions: [['email', 'night@example.com', `${topic}:1`]],
    informed: undefined,
    live,
    instead: () => undefined,
    retentionDays: '400',
    heartbeatsLost: [],
    concurrency: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 1000 },
    outputs: {},
    settled: async () => {
      await Promise.all(running);
    },
    close: async () => {
      await Promise.allSettled(running);
      await server.close();
    },
  };
  return plane;
}

const cloudWatch = 'GraniteServiceVersion20100801.';
const accountSettings = '/2016-08-19/account-settings';

/** Name of a call, such as `sns:ListSubscriptionsByTopic`; of S3 the method alone, and `list`. */
function nameOf(request: IncomingMessage, body: string): string {
  const target = String(request.headers['x-amz-target'] ?? '');
  if (target.startsWith(cloudWatch)) return `cloudwatch:${target.slice(cloudWatch.length)}`;
  const [service = '', operation = ''] = target.split('.');
  if (service === 'secretsmanager') return `${service}:${operation}`;
  if (service === 'TrentService') return `kms:${operation}`;
  if (service === 'AWSStepFunctions') return `states:${operation}`;
  const url = new URL(request.url ?? '', 'http://aws');
  if (url.pathname.startsWith(accountSettings)) return 'lambda:GetAccountSettings';
  if (url.pathname.startsWith('/2015-03-31/functions/'))
    return request.method === 'GET'
      ? 'lambda:GetFunctionConfiguration'
      : `lambda:Invoke ${request.headers['x-amz-invocation-type'] ?? 'RequestResponse'}`;
  const action = new URLSearchParams(body).get('Action');
  if (action !== null) return `${action === 'ListSubscriptionsByTopic' ? 'sns' : 'cloudformation'}:${action}`;
  return `s3:${url.searchParams.has('list-type') ? 'List' : request.method}`;
}

/** The elements of a list, as the query protocol has them. */
export function members<Item>(list: readonly Item[], of: (item: Item) => Readonly<Record<string, string>>): string {
  const texts = list.map((item) => Object.entries(of(item)).map(([name, value]) => `<${name}>${value}</${name}>`));
  return texts.map((parts) => `<member>${parts.join('')}</member>`).join('');
}
