import type { Context } from 'aws-lambda';
import { parseEvent } from './event';
import { attemptRun } from './run/attempt-run';
import type { RunSummary } from './run/run-record';
import { wire } from './wiring';

const wiring = wire(process.env, __dirname);

/** What Lambda calls: reads the event, works on the run, and fails truthfully if anything is not archived. */
export async function handler(event: unknown, context: Context): Promise<RunSummary> {
  const request = parseEvent(event, wiring.collection.clusters);
  const attempt = await wiring.openAttempt(request, context);
  try {
    return await attemptRun(request, attempt.context);
  } finally {
    attempt.close();
  }
}
