import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionDefinition } from '../../../local/deployment/function-definition';
import { LocalFunction, type LocalFunctionOptions } from '../../../local/deployment/local-function';
import { newFolder } from '../../support/new-folder';

const definition: Omit<FunctionDefinition, 'codeFolder'> = {
  name: 'the-function',
  arn: 'arn:aws:lambda:eu-central-1:111122223333:function:the-function',
  role: {
    arn: 'arn:aws:iam::111122223333:role/the-role',
    policies: [],
    accessKeyId: 'key-id',
    secretAccessKey: 'key',
    sessionToken: 'token',
  },
  handler: 'index.handler',
  environment: { GREETING: 'hello' },
  timeoutSeconds: 30,
  memoryMiB: 256,
  logGroup: '/the/log-group',
  asynchronous: undefined,
};

const started: LocalFunction[] = [];
let lines: string[] = [];

function start(
  text: string,
  overrides: Partial<FunctionDefinition> = {},
  options: Partial<LocalFunctionOptions> = {},
): LocalFunction {
  lines = [];
  const codeFolder = newFolder();
  writeFileSync(join(codeFolder, 'index.js'), text);
  const fn = new LocalFunction({
    definition: { ...definition, codeFolder, ...overrides },
    endpoint: 'http://127.0.0.1:1',
    region: 'eu-central-1',
    onLine: (line) => lines.push(line),
    ...options,
  });
  started.push(fn);
  return fn;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((fn) => fn.close()));
});

describe('a local function', () => {
  it('passes the event and the context, and answers with the result as JSON', async () => {
    const fn = start(`exports.handler = async (event, context) => ({
    event, when: new Date(0), nothing: undefined,
    context: { ...context, remaining: context.getRemainingTimeInMillis() > 20_000 },
  });`);
    expect(await fn.invoke({ clusters: ['a'] }, 'request-1')).toEqual({
      requestId: 'request-1',
      payload: {
        event: { clusters: ['a'] },
        when: '1970-01-01T00:00:00.000Z',
        context: expect.objectContaining({
          awsRequestId: 'request-1',
          functionName: 'the-function',
          functionVersion: '$LATEST',
          invokedFunctionArn: definition.arn,
          memoryLimitInMB: '256',
          logGroupName: '/the/log-group',
          remaining: true,
        }),
      },
    });
  });

  it('gives the function exactly the template’s environment and what Lambda itself sets, nothing of the parent’s', async () => {
    process.env.LEAK_FROM_PARENT = 'yes';
    try {
      const { payload } = await start('exports.handler = async () => process.env;').invoke({});
      const environment = payload as Record<string, string>;
      expect(environment).toMatchObject({
        GREETING: 'hello',
        AWS_REGION: 'eu-central-1',
        AWS_ACCESS_KEY_ID: 'key-id',
        AWS_SECRET_ACCESS_KEY: 'key',
        AWS_SESSION_TOKEN: 'token',
        AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
        AWS_LAMBDA_FUNCTION_NAME: 'the-function',
      });
      const ofLambda = /^(_HANDLER|AWS_\w+|LAMBDA_TASK_ROOT|LANG|PATH|TMPDIR|TZ|GREETING|__CF_USER_TEXT_ENCODING)$/; // the last: macOS adds it to every process
      expect(Object.keys(environment).filter((name) => !ofLambda.test(name))).toEqual([]);
    } finally {
      delete process.env.LEAK_FROM_PARENT;
    }
  });

  it('limits the heap to the template’s memory', async () => {
    const fn = start("exports.handler = async () => require('node:v8').getHeapStatistics().heap_size_limit;");
    const { payload } = await fn.invoke({});
    expect(payload).toBeGreaterThanOrEqual(256 * 2 ** 20);
    expect(payload).toBeLessThan(1.5 * 256 * 2 ** 20);
  });

  it.each([
    ['process.exit(3)', 'Runtime exited with error: exit status 3'],
    ['process.exit(0)', 'Runtime exited without providing a reason'],
    ["process.kill(process.pid, 'SIGKILL')", 'Runtime exited with error: signal: killed'],
  ])('reports the crash %s, and goes on in a new execution environment', async (crash, reason) => {
    const fn = start(
      `exports.handler = async (event) => { if (event.crash) { ${crash}; await new Promise(() => {}); } return process.pid; };`,
    );
    const before = await fn.invoke({});
    expect((await fn.invoke({ crash: true }, 'request-2')).error).toEqual({
      errorType: 'Runtime.ExitError',
      errorMessage: `RequestId: request-2 Error: ${reason}`,
    });
    const after = await fn.invoke({});
    expect(after.payload).toEqual(expect.any(Number));
    expect(after.payload).not.toBe(before.payload);
  });

  it('kills an invocation that exceeds the time limit, even one that blocks', async () => {
    const fn = start('exports.handler = async (event) => { while (event.block); return 1; };', { timeoutSeconds: 1 });
    expect((await fn.invoke({ block: true }, 'request-3')).error).toEqual({
      errorType: 'Sandbox.Timedout',
      errorMessage: 'RequestId: request-3 Error: Task timed out after 1.00 seconds',
    });
    expect((await fn.invoke({})).payload).toBe(1);
  });

  it('ends what is under way when it is closed', async () => {
    const fn = start('exports.handler = () => new Promise(() => console.log(process.pid));');
    const invocation = fn.invoke({}, 'request-4');
    await untilTrue(() => lines.length > 0);
    await fn.close();
    expect((await invocation).error?.errorType).toBe('Runtime.ExitError');
    expect(() => process.kill(Number(lines[0]), 0)).toThrow('ESRCH');
  });
});

describe('an asynchronous invocation', () => {
  type Settings = NonNullable<FunctionDefinition['asynchronous']>;
  const ofAll: Settings = { FunctionName: definition.name, Qualifier: '$LATEST' };

  const failing = `let times = 0;
  exports.handler = async (event) => { if (times++ < event.failures) throw new Error('failure ' + times); };`;

  it.each<[string, number, Partial<Settings>, unknown[]]>([
    ['is attempted once if it succeeds', 0, {}, [[undefined], undefined]],
    ['is retried until it succeeds', 2, {}, [['failure 1', 'failure 2', undefined], undefined]],
    ['is given up after the last retry', 9, {}, [['failure 1', 'failure 2', 'failure 3'], 'failure 3']],
    ['is retried as the template says', 9, { MaximumRetryAttempts: 0 }, [['failure 1'], 'failure 1']],
  ])('%s', async (_what, failures, settings, expected) => {
    const fn = start(failing, { asynchronous: { ...ofAll, ...settings } });
    const { attempts, failure } = await fn.invokeAsync({ failures });
    expect(new Set(attempts.map(({ requestId }) => requestId)).size).toBe(1);
    expect([attempts.map(({ error }) => error?.errorMessage), failure?.errorMessage]).toEqual(expected);
  });
});

async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
