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
/** The service has got a request that it does not answer. */
let whenPinged: () => void;
let warned: unknown[];
let counted: number;

beforeEach(async () => {
  pings = 0;
  whenPinged = () => undefined;
  warned = [];
  counted = 0;
  const answering = createServer(async (request, response) => {
    await text(request);
    if (request.headers['x-amz-target'] !== undefined) return response.end(secret);
    pings += 1;
    return whenPinged();
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

/** Time that passes when a test says so: the limits that were set, each with the way to reach it. */
function limits(): { readonly ms: number; readonly reach: () => void }[] {
  const set: ReturnType<typeof limits> = [];
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    set.push({ ms, reach: () => controller.abort() });
    return controller.signal;
  });
  return set;
}

it('ends before its invocation does, whoever does not answer', async () => {
  const set = limits();
  whenPinged = () => set[0]?.reach();
  await heartbeat().tell({ number: 1 }, 5_000);
  expect(set[0]?.ms).toBe(3_000);
  expect(inspect(warned, { depth: 9 })).toContain('it did not answer in time');
  expect(counted).toBe(1);
  // There was no time for the second one.
  expect(pings).toBe(1);
  expect(inspect(warned, { depth: 9 })).not.toContain(word);
});

it('waits ten seconds for each answer, and asks twice', async () => {
  const set = limits();
  whenPinged = () => set.at(-1)?.reach();
  await heartbeat().tell({ number: 1 }, 600_000);
  expect(set.map(({ ms }) => ms)).toEqual([598_000, 10_000, 10_000, 10_000]);
  expect(inspect(warned)).toContain('it did not answer in time');
  expect(counted).toBe(1);
  expect(pings).toBe(2);
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
