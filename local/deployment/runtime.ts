/**
 * The program of one execution environment: loads the function as Lambda's Node.js runtime does and works through the
 * invocations that its parent sends. It runs as a process of its own with Lambda's environment variables only. It is
 * turned into JavaScript before it starts: a loader of TypeScript would change how the function runs.
 */
import { join } from 'node:path';
import type { FunctionError, InvokeMessage, RuntimeMessage } from './execution-environment';

type Handler = (event: unknown, context: object) => unknown;

process.on('disconnect', () => process.exit());
process.on('uncaughtException', (error) => fail(describe(error), 129));
process.on('unhandledRejection', (reason) =>
  fail({ ...describe(reason), errorType: 'Runtime.UnhandledPromiseRejection', errorMessage: String(reason) }, 128),
);
main();

function main(): void {
  const [file = '', name = ''] = (process.env._HANDLER ?? '').split('.');
  const handler: Handler = require(join(process.env.LAMBDA_TASK_ROOT ?? '', file))[name];
  // Not awaited: a rejection would be unhandled, and is reported as one.
  process.on('message', (message: InvokeMessage) => void answer(handler, message));
  send('ready');
}

async function answer(handler: Handler, message: InvokeMessage): Promise<void> {
  const outcome = await attempt(handler, message);
  process.stdout.write(`${message.endLine}\n`);
  process.stderr.write(`${message.endLine}\n`);
  send(outcome);
}

async function attempt(handler: Handler, message: InvokeMessage): Promise<RuntimeMessage> {
  try {
    return { payload: (await handler(message.event, createContext(message))) ?? null };
  } catch (error) {
    return { error: describe(error) };
  }
}

function createContext({ requestId: awsRequestId, deadline }: InvokeMessage): object {
  const { env } = process;
  return {
    awsRequestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: process.argv[2],
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

function describe(error: unknown): FunctionError {
  if (error instanceof Error)
    return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
  return { errorType: typeof error, errorMessage: String(error), trace: [] };
}

function fail(error: FunctionError, exitCode: number): void {
  process.stderr.write(`Uncaught Exception\t${JSON.stringify(error)}\n`);
  send({ error }, () => process.exit(exitCode));
}

function send(message: RuntimeMessage, sent?: () => void): void {
  process.send?.(message, undefined, undefined, sent);
}
