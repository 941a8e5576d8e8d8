import { setFlagsFromString } from 'node:v8';
import type { Context } from 'aws-lambda';
import type { RunSummary } from '../../archive/format/run-record';
import { systemClock } from '../clock';
import { parseEvent, parseHeartbeat } from './event';
import { attemptRun } from './run/attempt-run';
import { type HeartbeatSummary, wire } from './wiring';

// V8 counts the buffers that zlib and sockets leave behind as old objects, and by default collects the whole heap after
// each 12 MB of them. It may wait until there is three times the heap more: a seventh of the processor time, and no more
// memory (docs/performance.md). A V8 that does not know the flag says so on standard error and goes on.
setFlagsFromString('--heap-growing-percent=300');

const wiring = wire(process.env, __dirname);

/**
 * What Lambda calls: reads the event, works on the run, and fails truthfully if anything is not archived. Of a run in shards
 * the state machine asks at its end that it is told.
 */
export async function handler(event: unknown, context: Context): Promise<RunSummary | HeartbeatSummary> {
  const now = systemClock.now();
  const told = parseHeartbeat(event, now);
  if (told !== undefined) return wiring.tellOfShards(told, context);
  const attempt = await wiring.openAttempt(parseEvent(event, wiring.clusters, now), context);
  try {
    // Once more: it may name clusters of a list that the attempt has read meanwhile.
    const request = parseEvent(event, attempt.context.configuration.clusters, now);
    const summary = await attemptRun(request, attempt.context);
    await attempt.tell(summary);
    return summary;
  } finally {
    attempt.close();
  }
}
