import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { CloudWatchClient, GetMetricStatisticsCommand, ListMetricsCommand } from '@aws-sdk/client-cloudwatch';
import { type ListeningServer, listenLocally } from '../../local/listen-locally';
import type { DeployedCollector } from '../end-to-end/local-collector';
import { credentials } from '../fidelity/moto-stack';
import { startMoto } from '../local/aws/moto-server';

const region = 'eu-central-1';

/** Runs the state machine of a deployed stack. */
interface Interpreter {
  /** Starts an execution and waits for its end. */
  start(deployed: DeployedCollector, input: object): Promise<{ failure?: { error: string; cause: string } }>;
  /** What the latest execution has put to CloudWatch. */
  metrics(): Promise<readonly object[]>;
  /** How often the function of this deployment was invoked. */
  invocations(): number;
}

/**
 * Runs executions in moto, which has LocalStack's interpreter of the Amazon States Language. The calls of its tasks go
 * through a proxy: invocations of the function to the local deployment, everything else to moto. Hooks start and stop it.
 */
export function useMotoStates(command: string): Interpreter {
  let current: DeployedCollector | undefined;
  let invocations = 0;
  let moto: Awaited<ReturnType<typeof startMoto>>;
  let listening: ListeningServer;

  const gate = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    if (!/^\/2015-03-31\/functions\/[^/]+\/invocations$/.test(incoming.url ?? ''))
      return forward(moto.url, incoming, body, response);
    if (current === undefined) throw new Error('nothing is deployed');
    invocations += 1;
    const { payload, error } = await current.invoke(JSON.parse(body.toString()));
    response.writeHead(200, error === undefined ? {} : { 'X-Amz-Function-Error': 'Unhandled' });
    response.end(JSON.stringify(error ?? payload));
  };
  beforeAll(async () => {
    listening = await listenLocally(gate);
    moto = await startMoto(command, { MOTO_PORT: new URL(listening.url).port });
  });
  afterAll(async () => {
    await moto.stop();
    await listening.close();
  });

  const post = async (
    path: string,
    service: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<string> => {
    const authorization = `AWS4-HMAC-SHA256 Credential=moto/20261120/${region}/${service}/aws4_request`;
    const answered = await fetch(`${moto.url}${path}`, {
      method: 'POST',
      headers: { authorization, ...headers },
      body,
    });
    const text = await answered.text();
    if (!answered.ok) throw new Error(`moto answered ${answered.status} to ${path}: ${text}`);
    return text;
  };
  const states = async (action: string, parameters: object): Promise<Record<string, string>> => {
    const headers = { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `AWSStepFunctions.${action}` };
    return JSON.parse(await post('/', 'states', headers, JSON.stringify(parameters)));
  };
  /** After an execution that failed, or beside one under way, moto starts no other before a reset. */
  const reset = async (): Promise<void> => {
    await post('/moto-api/reset', 'moto', {}, '');
    await post('/moto-api/config', 'moto', {}, JSON.stringify({ stepfunctions: { execute_state_machine: true } }));
  };

  return {
    start: async (deployed, input) => {
      if (deployed !== current) invocations = 0;
      current = deployed;
      await reset();
      // moto gives all executions without a name the same name.
      const name = `fan-out-${randomUUID()}`;
      const { stateMachineArn } = await states('CreateStateMachine', {
        name,
        // Short waits, because moto waits in real time.
        definition: deployed.shards?.definition.replace(/"IntervalSeconds":\d+/g, '"IntervalSeconds":1'),
        roleArn: 'arn:aws:iam::123456789012:role/fan-out',
      });
      const { executionArn } = await states('StartExecution', {
        stateMachineArn,
        name,
        input: JSON.stringify(input),
      });
      for (;;) {
        const { status, error = '', cause = '' } = await states('DescribeExecution', { executionArn });
        if (status === 'SUCCEEDED') return {};
        if (status !== 'RUNNING') return { failure: { error, cause } };
        await setTimeout(50);
      }
    },
    metrics: async () => {
      const client = new CloudWatchClient({ endpoint: moto.url, region, credentials });
      const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
      const { Metrics = [] } = await client.send(new ListMetricsCommand({}));
      const found = Metrics.map(async ({ Namespace: namespace, MetricName: name, Dimensions = [] }) => {
        const when = { Period: 86_400, StartTime: hours(-1), EndTime: hours(1), Statistics: ['Sum' as const] };
        const asked = { Namespace: namespace, MetricName: name, Dimensions, ...when };
        const { Datapoints = [] } = await client.send(new GetMetricStatisticsCommand(asked));
        const value = Datapoints.reduce((sum, { Sum = 0 }) => sum + Sum, 0);
        return {
          namespace,
          name,
          value,
          dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
        };
      });
      return Promise.all(found);
    },
    invocations: () => invocations,
  };
}

function forward(url: string, incoming: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const headers = { ...incoming.headers, 'content-length': String(body.length) };
  const onward = request(`${url}${incoming.url}`, { method: incoming.method, headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(response);
  });
  onward.on('error', (error) => response.destroy(error));
  onward.end(body);
}
