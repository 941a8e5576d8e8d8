import type { Context } from 'aws-lambda';
import { parseEvent } from './event';
import { attemptRun } from './run/attempt-run';
import type { RunSummary } from './run/run-record';
import { nameSourceLines } from './source-lines';
import { createExecutionEnvironment } from './wiring';

nameSourceLines(__filename);

const environment = createExecutionEnvironment(process.env, __dirname);

/** What Lambda calls: reads the event, works on the run, and fails truthfully if anything is not archived. */
export async function handler(event: unknown, context: Context): Promise<RunSummary> {
  const request = parseEvent(event, environment.clusters);
  const attempt = await environment.openAttempt(request, context);
  try {
    return await attemptRun(request, attempt.context);
  } finally {
    attempt.close();
  }
}
