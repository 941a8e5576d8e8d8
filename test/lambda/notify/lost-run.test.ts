import { RunIncompleteError } from '../../../lambda/collect/run/run-errors';
import { lostRunIn } from '../../../lambda/notify/lost-run';

const scheduledTime = '2026-11-20T10:00:00Z';
const functionArn = 'arn:aws:lambda:eu-central-1:111122223333:function:collector:$LATEST';

/** What Lambda says of an event that it gave up. */
const dropped = (errorType: string | undefined, errorMessage = '', requestPayload: object = { scheduledTime }) => ({
  requestContext: { functionArn, condition: 'RetriesExhausted', approximateInvokeCount: 3 },
  requestPayload,
  ...(errorType !== undefined && { responsePayload: { errorType, errorMessage } }),
});

/** The error of a run of 1,000 outcomes, of which some are missing. */
function incomplete(missing: number, problem?: string): Error {
  const outcomes = Array.from({ length: 1000 }, (_, at) => ({
    ...{ cluster: `a (${at} of 9 not archived)`, resource: 'log' as const },
    outcome: at < missing ? ('failed' as const) : ('archived' as const),
  }));
  const counts = { archived: 1000 - missing, alreadyArchived: 0, failed: missing, notAttempted: 0 };
  const summary = { run: '2026-11-20T10:00:00.000Z', attempt: 1, dryRun: false, counts, record: 'runs/x' };
  const list =
    problem === undefined ? undefined : { from: 's3://a/b', isInForce: false, since: scheduledTime, problem };
  return new RunIncompleteError(summary as never, outcomes, { name: 'fleet', region: 'r' }, list as never);
}

const lost = (missingPercent: number, changes: object = {}) => ({
  ...{ isOfSchedule: true, missingPercent, isListRefused: false },
  ...changes,
});

describe('of a run that failed for good, the share that is missing', () => {
  it.each([
    0, 1, 49, 50, 999, 1000,
  ])('is what its error says, whatever the number of its last attempt: %d of 1,000', (missing) => {
    expect(lostRunIn(dropped('RunIncompleteError', incomplete(missing).message))).toEqual(lost(missing / 10));
  });

  it.each<[string, object]>([
    ['it was killed', dropped('Sandbox.Timedout', 'Task timed out after 900.00 seconds')],
    ['its memory was full', dropped('Runtime.OutOfMemory')],
    ['its event grew too old', dropped(undefined)],
    ['its record could not be written', dropped('ArchiveError', 'Writing runs/x failed (1 of 1000 not archived)')],
    ['its error is one that is unknown today', dropped('RunVanishedError', '(1 of 1000 not archived)')],
    [
      'its error says it in other words',
      dropped('RunIncompleteError', 'Attempt 3 is incomplete: 1 of 1000 (1 failed)'),
    ],
    ['there was no list to collect', dropped('NoClusterListError')],
  ])('is everything if %s', (_, event) => {
    expect(lostRunIn(event)).toMatchObject({ isOfSchedule: true, missingPercent: 100 });
  });

  it('is nothing if only its list was refused, and the list is told of in any case', () => {
    const refused = { isListRefused: true };
    expect(lostRunIn(dropped('ClusterListError', 'The list …'))).toEqual(lost(0, refused));
    expect(lostRunIn(dropped('RunIncompleteError', incomplete(20, 'empty').message))).toEqual(lost(2, refused));
    expect(lostRunIn(dropped('NoClusterListError', 'The list …'))).toEqual(lost(100, refused));
  });

  it.each([
    {},
    { run: scheduledTime },
    { scheduledTime, clusters: ['a'] },
    { scheduledTime, requestId: 'r' },
    { scheduledTime, dryRun: true },
    { scheduledTime, heartbeat: { shards: 4 } },
  ])('is not that of a run of the schedule if a person started it: %j', (payload) => {
    expect(lostRunIn(dropped('RunIncompleteError', incomplete(1000).message, payload))?.isOfSchedule).toBe(false);
  });

  it('of one shard that somebody started is a share of the fleet', () => {
    const event = dropped('RunIncompleteError', incomplete(500).message, {
      scheduledTime,
      shard: { index: 1, count: 4 },
    });
    expect(lostRunIn(event)).toEqual(lost(12.5));
  });
});

describe('what is not a run', () => {
  it.each([
    [dropped('Error', 'x', { scheduledTime, audit: true })],
    [null],
    [7],
    [{}],
    [{ detail: 7 }],
  ])('is not lost: %j', (event) => {
    expect(lostRunIn(event)).toBeUndefined();
  });
});

describe('of an execution in shards, the share that is missing', () => {
  const cause = (failed: number[], unrecorded: number[], refused: number[], missing: unknown[]) =>
    `The shards ${JSON.stringify(failed)} of 4 did not succeed; without a record: ${JSON.stringify(unrecorded)}; the list refused: ${JSON.stringify(refused)}; missing of the others: ${JSON.stringify(missing)}. What was collected is archived. The first of them says: missing of the others: ["0 of 1 not archived"].`;
  const ended = (text: string | undefined, changes: object = {}) => ({
    detail: {
      ...{ stateMachineArn: 'arn', name: 'e', status: 'FAILED', input: JSON.stringify({ scheduledTime }) },
      ...{ error: 'ShardsFailedError', cause: text },
      ...changes,
    },
  });

  it.each<[string, string, number]>([
    ['one cluster of one shard', cause([2], [], [], ['1 of 1000 not archived']), 0.025],
    ['a shard without a record', cause([2], [2], [], []), 25],
    ['both', cause([1, 2], [2], [], ['100 of 1000 not archived']), 27.5],
    ['no shard with a record', cause([0, 1, 2, 3], [0, 1, 2, 3], [], []), 100],
    ['a share that cannot be read', cause([2], [], [], ['some']), 25],
  ])('is that of the fleet: %s', (_, text, percent) => {
    expect(lostRunIn(ended(text))?.missingPercent).toBeCloseTo(percent, 9);
    expect(lostRunIn(ended(text))?.isOfSchedule).toBe(true);
  });

  it('tells of a refused list, whatever else became of the shards', () => {
    const refused = { isListRefused: true };
    const both = cause([0, 1], [], [1], ['100 of 1000 not archived, list refused']);
    expect(lostRunIn(ended(both))).toEqual(lost(2.5, refused));
    expect(lostRunIn(ended(cause([0], [], [], ['0 of 1000 not archived, list refused'])))).toEqual(lost(0, refused));
    // No run has collected a list: these shards collected nothing.
    expect(lostRunIn(ended(cause([0], [0], [0], [])))).toEqual(lost(25, refused));
    expect(lostRunIn(ended(cause([0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [])))).toEqual(lost(100, refused));
  });

  it('is nothing if only lists were refused', () => {
    expect(lostRunIn(ended(cause([0, 1], [], [0, 1], [])))).toEqual(lost(0, { isListRefused: true }));
  });

  it.each<[string, object]>([
    ['it timed out', ended(undefined, { status: 'TIMED_OUT', error: null, cause: null })],
    ['it failed otherwise', ended('x', { error: 'States.Runtime' })],
    ['its cause has other words', ended('The shards [2] of 4 did not succeed; what the others collected is archived.')],
    ['its cause leaves a shard out', ended(cause([1, 2], [], [], ['1 of 1000 not archived']))],
    ['its cause is cut', ended(cause([1, 2], [2], [], ['1 of 1000 not archived']).slice(0, 100))],
    ['another error has such a cause', ended(cause([2], [], [], ['0 of 1 not archived']), { error: 'States.Timeout' })],
  ])('is everything if %s', (_, event) => {
    expect(lostRunIn(event)).toEqual(lost(100));
  });

  it('is not that of a run of the schedule without its time', () => {
    expect(lostRunIn(ended(cause([2], [2], [], []), { input: '{}' }))?.isOfSchedule).toBe(false);
  });
});
