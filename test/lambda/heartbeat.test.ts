import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Heartbeat, openHeartbeat } from '../../lambda/heartbeat';
import { type ListeningServer, listenLocally } from '../../local/listen-locally';

const word = 'who-knows-this-can-say-that-all-is-well';

/** Secrets Manager, and the monitoring service, which gets a request and never answers. */
let server: ListeningServer;
let secret: string;
let pings: number;
let warned: unknown[];
let counted: number;

beforeEach(async () => {
  pings = 0;
  warned = [];
  counted = 0;
  const answering = createServer(async (request, response) => {
    await text(request);
    if (request.headers['x-amz-target'] === undefined) pings += 1;
    else response.end(secret);
  });
  server = await listenLocally(answering);
  secret = JSON.stringify({ SecretString: `${server.url}/${word}` });
});

afterEach(() => {
  jest.restoreAllMocks();
  return server.close();
});

function heartbeat(): Heartbeat {
  const metrics = new Metrics({ namespace: 'test' });
  jest.spyOn(metrics, 'publishStoredMetrics').mockImplementation(() => {
    counted += 1;
    return metrics;
  });
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  const client = new SecretsManagerClient({
    endpoint: server.url,
    region: 'eu-central-1',
    credentials,
    maxAttempts: 1,
  });
  const logger = { warn: (...line: unknown[]) => void warned.push(line) };
  return new Heartbeat('monitoring/heartbeat', 'stack', logger, metrics, client);
}

it('ends before its invocation does, whoever does not answer', async () => {
  await heartbeat().tell({ number: 1 }, 2_300);
  expect(counted).toBe(1);
  // There was no time for the second one.
  expect(pings).toBeLessThan(2);
  expect(inspect(warned, { depth: 9 })).not.toContain(word);
});

it('waits ten seconds for each answer, and asks twice', async () => {
  const real = AbortSignal.timeout;
  // The longest one stands for the time of the invocation, which is not over.
  const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => real(ms > 10_000 ? ms : 300));
  await heartbeat().tell({ number: 1 }, 600_000);
  expect(timeout.mock.calls.flat()).toEqual([598_000, 10_000, 10_000, 10_000]);
  expect(inspect(warned)).toContain('it did not answer in time');
  expect(counted).toBe(1);
  expect(pings).toBeLessThanOrEqual(2);
});

it('quotes no answer of Secrets Manager, whose text may hold the address', async () => {
  secret = `{"SecretString": "https://monitor.example/${word}`;
  await heartbeat().tell({ number: 1 }, 600_000);
  expect(inspect(warned)).toContain('the answer is not one of AWS');
  expect(inspect(warned, { depth: 9 })).not.toContain(word);
});

it('is not there without a secret, and is refused without the name of the stack', () => {
  const open = (variables: NodeJS.ProcessEnv) => openHeartbeat(variables, undefined as never, undefined as never);
  expect(open({ STACK: 'stack' })).toBeUndefined();
  expect(() => open({ HEARTBEAT_SECRET: 'monitoring/heartbeat' })).toThrow(/STACK not set/);
});
