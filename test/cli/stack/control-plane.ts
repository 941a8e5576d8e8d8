import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { LocalDeployment } from '../../../local/deployment/deploy-locally';
import type { AsynchronousResult } from '../../../local/deployment/local-function';
import { listenLocally } from '../../../local/listen-locally';

export const stackName = 'my-collector';
export const accountId = '111122223333';
const region = 'eu-central-1';

/** What a person's commands ask AWS for, answered from a local deployment over real sockets. */
export interface ControlPlane {
  /** Every call, as `service action`. */
  readonly calls: readonly string[];
  /** What the function or the state machine was started with, oldest first. */
  readonly events: readonly unknown[];
  /** State of the stack from now on. */
  status: string;
  /** Subscriptions of the topic: protocol, address, and ARN or `PendingConfirmation`. Undefined: they may not be listed. */
  subscriptions: readonly (readonly [protocol: string, endpoint: string, arn: string])[] | undefined;
  /** Subscriptions of the other group's topic; undefined: the stack has no such topic. */
  informed: ControlPlane['subscriptions'] | undefined;
  /** What was changed by hand, as CloudFormation says it of the bucket: path, deployed and found value. */
  drift: readonly (readonly [path: string, expected: string, actual: string])[];
  /** Days after which the deployed archive expires, or `never`. */
  retentionDays: string;
  /** Resolves when everything that was started asynchronously has ended. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Sets the variables of this process with which the SDK calls it. S3 and Secrets Manager are the deployment's own endpoint. */
export async function startControlPlane(deployment: LocalDeployment): Promise<ControlPlane> {
  const calls: string[] = [];
  const events: unknown[] = [];
  const running: Promise<unknown>[] = [];
  const executions = new Map<string, AsynchronousResult | undefined>();
  const { definition, shards } = deployment;
  const topic = `arn:aws:sns:${region}:${accountId}:alerts`;

  const resources: [logicalId: string, type: string, id: string][] = [
    ['CollectorFunctionE9933A71', 'AWS::Lambda::Function', definition.name],
    ['ArchiveBucket49F1AC64', 'AWS::S3::Bucket', deployment.bucket],
  ];
  if (shards !== undefined)
    resources.push(['FanOutStateMachineD6078A7F', 'AWS::StepFunctions::StateMachine', shards.arn]);

  const queries: Record<string, (parameters: URLSearchParams) => string | undefined> = {
    DescribeStacks: (parameters) => {
      if (parameters.get('StackName') !== stackName) return undefined;
      const outputs = [
        ['ArchiveBucket', deployment.bucket],
        ['AlertTopic', topic],
        ['RetentionDays', plane.retentionDays],
      ];
      if (plane.informed !== undefined) outputs.push(['InformTopic', `${topic}-inform`]);
      const stack = {
        ...{ StackName: stackName, StackStatus: plane.status, CreationTime: '2026-11-01T00:00:00Z' },
        StackId: `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/1`,
        Outputs: members(outputs, ([OutputKey = '', OutputValue = '']) => ({ OutputKey, OutputValue })),
      };
      return `<Stacks>${members([stack], (members) => members)}</Stacks>`;
    },
    ListStackResources: () =>
      `<StackResourceSummaries>${members(resources, ([logicalId, type, id]) => ({
        ...{ LogicalResourceId: logicalId, ResourceType: type, PhysicalResourceId: id },
        ...{ ResourceStatus: 'CREATE_COMPLETE', LastUpdatedTimestamp: '2026-11-01T00:00:00Z' },
      }))}</StackResourceSummaries>`,
    DetectStackResourceDrift: () => {
      const differences = members(plane.drift, ([PropertyPath, ExpectedValue, ActualValue]) => ({
        ...{ PropertyPath, ExpectedValue, ActualValue, DifferenceType: 'NOT_EQUAL' },
      }));
      const status = plane.drift.length === 0 ? 'IN_SYNC' : 'MODIFIED';
      return `<StackResourceDrift><StackResourceDriftStatus>${status}</StackResourceDriftStatus><PropertyDifferences>${differences}</PropertyDifferences></StackResourceDrift>`;
    },
    ListSubscriptionsByTopic: (parameters) => {
      const found = parameters.get('TopicArn') === topic ? plane.subscriptions : (plane.informed ?? []);
      return (
        found &&
        `<Subscriptions>${members(found, ([Protocol, Endpoint, SubscriptionArn]) => ({ Protocol, Endpoint, SubscriptionArn }))}</Subscriptions>`
      );
    },
  };

  async function answer(request: IncomingMessage): Promise<{ status?: number; headers?: object; body: string }> {
    const body = await text(request);
    const target = String(request.headers['x-amz-target'] ?? '');
    if (target.startsWith('AWSStepFunctions.'))
      return { body: await stepFunctions(target.slice(17), JSON.parse(body)) };
    if (request.url?.startsWith('/2015-03-31/functions/')) return lambda(request, body);
    const parameters = new URLSearchParams(body);
    const action = parameters.get('Action') ?? '';
    calls.push(action);
    const result = queries[action]?.(parameters);
    if (result === undefined)
      return {
        status: 400,
        body: `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${parameters.get('StackName')} does not exist</Message></Error></ErrorResponse>`,
      };
    return { body: `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>` };
  }

  async function lambda(request: IncomingMessage, body: string) {
    if (request.method === 'GET') {
      calls.push('GetFunctionConfiguration');
      return {
        body: JSON.stringify({ FunctionName: definition.name, Environment: { Variables: definition.environment } }),
      };
    }
    const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
    calls.push(`Invoke ${type}`);
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
    calls.push(action);
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

  const answering = createServer((request, response) => {
    void answer(request).then(({ status = 200, headers = {}, body }) =>
      response.writeHead(status, { ...headers, 'x-amzn-requestid': 'r' }).end(body),
    );
  });
  const server = await listenLocally(answering);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: server.url,
    AWS_ENDPOINT_URL_S3: deployment.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: deployment.url,
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
    drift: [],
    retentionDays: '400',
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

/** The elements of a list, as the query protocol has them. */
function members<Item>(list: readonly Item[], of: (item: Item) => Readonly<Record<string, string>>): string {
  const texts = list.map((item) => Object.entries(of(item)).map(([name, value]) => `<${name}>${value}</${name}>`));
  return texts.map((parts) => `<member>${parts.join('')}</member>`).join('');
}
