import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ApiKey } from '../../../../lambda/collect/service/api-key';
import type { LocalSecret } from '../../../../local/aws/call';
import { rolePolicySchema } from '../../../../local/aws/iam/policy-document';
import { type LocalAws, startLocalAws } from '../../../../local/aws/local-aws';
import { listenLocally } from '../../../../local/listen-locally';
import { injectFaults } from '../../../support/aws-faults';

const arn = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:key-AbCdEf';
const existingArn = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:platform/clusters-AbCdEf';
const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret for tests' };

const never = new AbortController().signal;

let aws: LocalAws;
let secret: LocalSecret;
let existingSecret: LocalSecret;
let hold: Promise<undefined> | undefined;
let readings: number;
let apiKey: ApiKey;

beforeEach(async () => {
  readings = 0;
  hold = undefined;
  secret = { arn, value: 'first' };
  existingSecret = { arn: existingArn };
  const Resource = [arn, existingArn];
  const Statement = { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource };
  aws = await startLocalAws({
    region: 'eu-central-1',
    principals: [
      {
        ...credentials,
        arn: 'arn:aws:iam::111111111111:role/r',
        policies: [rolePolicySchema.parse({ Statement })],
      },
    ],
    buckets: [],
    secrets: [secret, existingSecret],
    around: injectFaults(() => hold),
    onRequest: () => {
      readings += 1;
    },
  });
  apiKey = new ApiKey(client(), arn);
});

const client = () => new SecretsManagerClient({ endpoint: aws.url, region: 'eu-central-1', credentials });

afterEach(() => aws.close());

describe('the API key', () => {
  it('is read once for all who ask', async () => {
    expect(await Promise.all([apiKey.current(never), apiKey.current(never), apiKey.current(never)])).toEqual([
      'first',
      'first',
      'first',
    ]);
    await apiKey.current(never);
    expect(readings).toBe(1);
  });

  it('is read again after each rejection, until another one was found', async () => {
    await apiKey.current(never);
    expect(await apiKey.afterRejection('first', never)).toBe('first');
    secret.value = 'second';
    expect(await apiKey.afterRejection('first', never)).toBe('second');
    expect(readings).toBe(3);
    expect(await apiKey.afterRejection('first', never)).toBe('second');
    expect(await apiKey.current(never)).toBe('second');
    expect(readings).toBe(3);
  });

  it('is not set back by a reading that ends after a later one', async () => {
    const answers: ((SecretString: string) => void)[] = [];
    const send = () => new Promise((resolve) => answers.push((SecretString) => resolve({ SecretString })));
    const read = new ApiKey({ send } as unknown as SecretsManagerClient, arn);
    const first = read.current(never);
    answers[0]?.('first');
    await first;
    const rejected = [read.afterRejection('first', never), read.afterRejection('first', never)];
    await setImmediate();
    answers[2]?.('second');
    await rejected[1];
    answers[1]?.('first');
    expect(await Promise.all(rejected)).toEqual(['second', 'second']);
  });

  it('is kept when it cannot be read again', async () => {
    await apiKey.current(never);
    secret.value = undefined;
    await expect(apiKey.afterRejection('first', never)).rejects.toThrow('it has no value yet');
    expect(await apiKey.current(never)).toBe('first');
    expect(readings).toBe(2);
  });

  it('is read anew by the next who asks after a reading failed', async () => {
    secret.value = undefined;
    await expect(apiKey.current(never)).rejects.toThrow(
      `Reading the API key from the secret ${arn} failed: it has no value yet, or does not exist; set it: aws secretsmanager`,
    );
    secret.value = 'set';
    expect(await apiKey.current(never)).toBe('set');
  });

  it.each([
    ['without a value', undefined, 'it has no value yet, or does not exist'],
    ['without the member', '{"password":"first"}', 'neither a plain string nor JSON with the member "apiKey"'],
    ['whose member is not text', '{"apiKey":42}', 'neither a plain string nor JSON with the member "apiKey"'],
    ['that is not JSON', '{"apiKey":"first"', 'neither a plain string nor JSON with the member "apiKey"'],
    ['that is empty', ' ', 'its value is empty or has characters that no header can carry'],
    ['in quotes', '"first"', 'its value stands in quotes, which are not part of a key'],
    ['in single quotes and a line end', "'first'\r\n", 'its value stands in quotes, which are not part of a key'],
    ['in quotes inside of JSON', '{"apiKey":"\\"first\\""}', 'its value stands in quotes, which are not part of a key'],
    ['with a line break', 'first\nx', 'its value is empty or has characters that no header can carry'],
  ])('of an existing secret %s fails with why, and with no command that would replace it', async (_, value, reason) => {
    existingSecret.value = value;
    const existing = new ApiKey(client(), 'platform/clusters');
    const error: unknown = await existing.current(never).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(reason);
    expect(String(error)).toContain('ask the owner of the secret to add the key to it');
    expect(String(error)).not.toMatch(/put-secret-value|aws secretsmanager|first/);
  });

  it.each([
    ['a byte order mark before JSON', '\ufeff{"apiKey": "first"}\r\n'],
    ['a byte order mark before the key', '\ufefffirst\n'],
    ['line ends and spaces around JSON', ' \r\n{"apiKey": " first\\n"}\n\n'],
    ['a quote inside', 'fir"st'],
  ])('is read from a secret with %s', async (_what, value) => {
    existingSecret.value = value;
    const read = await new ApiKey(client(), 'platform/clusters').current(never);
    expect(read.replace('"', '')).toBe('first');
  });

  it('whose reading a run ended is read anew by the next', async () => {
    const stop = new AbortController();
    hold = new Promise(() => undefined);
    const reading = Promise.all([apiKey.current(stop.signal), apiKey.afterRejection('first', stop.signal)]);
    stop.abort(new Error('time ran out'));
    await expect(reading).rejects.toThrow('time ran out');
    hold = undefined;
    expect(await apiKey.current(never)).toBe('first');
  });

  it('is in no error, also when Secrets Manager answers with something that is not JSON', async () => {
    const answering = createServer((_request, response) => response.end('{"SecretString":"first"hidden"}'));
    const { url: endpoint, close } = await listenLocally(answering);
    const client = new SecretsManagerClient({ endpoint, region: 'eu-central-1', credentials, maxAttempts: 1 });
    const error: unknown = await new ApiKey(client, arn).current(never).catch((thrown: unknown) => thrown);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/first|hidden/);
    expect(String(error)).toContain('failed: the answer of Secrets Manager is not JSON');
    client.destroy();
    await close();
  });
});
