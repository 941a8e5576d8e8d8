import { parseAuditEvent } from '../../../lambda/audit/event';
import { parseEvent } from '../../../lambda/collect/event';
import { InvalidEventError } from '../../../lambda/read-event';

const clusters = [{ uid: 'a' }, { uid: 'b' }];
const now = new Date('2026-11-23T12:00:00.000Z');
const parse = (event: unknown) => parseEvent(event, clusters, now);

function problemsOf(event: unknown): string {
  try {
    parse(event);
  } catch (error) {
    if (error instanceof InvalidEventError) return error.message;
    throw error;
  }
  throw new Error('accepted');
}

describe('an event', () => {
  it.each([{}, undefined, null])('of nothing, %j, asks for everything now', (event) => {
    expect(parse(event)).toEqual({ completes: false, scheduled: false, dryRun: false });
  });

  it('that asks for more than the schedule does is a person’s, whatever time it names', () => {
    const scheduledTime = '2026-11-20T10:00:00Z';
    const more = [{ clusters: ['a'] }, { requestId: 'r' }, { dryRun: true }];
    for (const asked of more) expect(parse({ scheduledTime, ...asked }).scheduled).toBe(false);
    expect(parse({ scheduledTime, shard: { index: 0, count: 2 } }).scheduled).toBe(true);
  });

  it("of the schedule names the run by the schedule's time", () => {
    const request = parse({ scheduledTime: '2026-11-20T10:00:00Z' });
    expect(request).toMatchObject({ run: new Date('2026-11-20T10:00:00Z'), scheduled: true, completes: false });
  });

  it('of a person can name the new run, so that a retry works on the same one', () => {
    const request = parse({ newRun: '2026-11-20T10:00:00Z' });
    expect(request).toMatchObject({ run: new Date('2026-11-20T10:00:00Z'), scheduled: false, completes: false });
  });

  it.each([
    '2026-11-20T10:00:00.000Z',
    '20261120T100000.000Z',
    '2026-11-20T11:00:00+01:00',
    // As the command line takes them.
    '2026-11-20T10:00',
    '2026-11-20 10:00',
  ])('completes an earlier run named %s', (run) => {
    expect(parse({ run })).toMatchObject({ run: new Date('2026-11-20T10:00:00Z'), completes: true, scheduled: false });
  });

  it('narrows a run to clusters, a shard and a request id', () => {
    const shard = { index: 0, count: 4 };
    const event = { clusters: ['b', 'b'], requestId: 'r', dryRun: true, shard };
    expect(parse(event)).toMatchObject({ clusters: ['b'], requestId: 'r', dryRun: true, shard });
  });

  it.each(['scheduledTime', 'newRun', 'run'])('with a time in %s more than two hours ahead is refused', (member) => {
    expect(parse({ [member]: '2026-11-23T14:00:00.000Z' }).run).toEqual(new Date('2026-11-23T14:00:00.000Z'));
    expect(problemsOf({ [member]: '2026-11-23T14:00:00.001Z' })).toContain(
      `- ${member}: received "2026-11-23T14:00:00.001Z", expected a time that is not in the future (now it is 2026-11-23T12:00:00.000Z)`,
    );
    expect(problemsOf({ [member]: '9999-01-01' })).toContain('expected a time that is not in the future');
  });

  it('with many problems tells all of them at once, each with its path, the value and what was expected', () => {
    const message = problemsOf({
      scheduledTime: 'tomorrow',
      clusters: ['a', 'zzz', 7],
      requestId: '',
      dryRun: 'yes',
      shard: { index: 4, count: 4 },
      apiKey: 'secret-value',
    });
    expect(message.split('\n')).toEqual([
      'Reading the event failed: 7 problems; nothing was collected.',
      '- scheduledTime: received "tomorrow", expected a time such as 2026-11-20T10:00:00Z',
      '- clusters[1]: received "zzz", expected the uid of a configured cluster',
      '- clusters[2]: received 7, expected the uid of a cluster',
      '- requestId: received "", expected 1 to 1024 characters',
      '- dryRun: received "yes", expected true or false',
      '- shard: received an object, expected an index from 0 that is less than count',
      '- apiKey: received an unknown member, expected one of scheduledTime, clusters, requestId, dryRun, shard, newRun, run',
      'An empty event {} collects everything.',
    ]);
  });

  it.each([
    [[], 'received a list of 0, expected an object'],
    ['{}', 'received "{}", expected an object'],
    [{ clusters: [] }, 'clusters: received a list of 0, expected at least one uid'],
    [{ shard: { index: -1, count: 0 } }, 'shard.index: received -1, expected an index from 0 that is less than count'],
    [{ shard: { index: 0, count: 1, of: 1 } }, 'shard.of: received an unknown member, expected one of index, count'],
    [{ run: '2026-13-01' }, 'run: received "2026-13-01", expected an earlier run'],
    [{ run: '1' }, 'run: received "1", expected an earlier run'],
    [{ run: '2026-02-30T10:00:00Z' }, 'run: received "2026-02-30T10:00:00Z", expected an earlier run'],
    [
      { run: '20260230T100000.000Z' },
      `run: received "20260230T100000.000Z", expected an earlier run's time such as 2026-11-20T10:00:00.000Z or 20261120T100000.000Z; this time does not exist`,
    ],
    [
      { run: '2026-11-20T25:00Z' },
      `run: received "2026-11-20T25:00Z", expected an earlier run's time such as 2026-11-20T10:00:00.000Z or 20261120T100000.000Z; this time does not exist`,
    ],
    [{ scheduledTime: '2026-02-29' }, 'scheduledTime: received "2026-02-29", expected a time'],
    [{ run: 'x'.repeat(5000) }, `run: received "${'x'.repeat(59)}… (5002 characters), expected`],
    [{ requestId: '\ud800' }, 'requestId: received "\\ud800", expected text without lone surrogates'],
    [{ run: '2026-11-20', scheduledTime: '2026-11-20' }, 'scheduledTime and run: received together, expected one'],
    [{ run: '2026-11-20', newRun: '2026-11-20' }, 'newRun and run: received together, expected one of them'],
  ])('%j is rejected', (event, problem) => {
    expect(problemsOf(event)).toContain(`- ${problem}`);
  });
});

describe('the event of an audit', () => {
  const at = (scheduledTime: string) => parseAuditEvent({ scheduledTime }, now);

  it('names a time, or now', () => {
    expect(at('2026-11-23T06:30:00Z')).toEqual(new Date('2026-11-23T06:30:00Z'));
    for (const empty of [{}, null, undefined]) expect(parseAuditEvent(empty, now)).toBeUndefined();
  });

  it('is refused with all its problems at once', () => {
    expect(() => parseAuditEvent({ scheduledTime: 'tomorrow', run: 'x', clusters: [] }, now)).toThrow(
      new Error(
        'Reading the event failed: 3 problems; nothing was audited.\n' +
          '- scheduledTime: received "tomorrow", expected a time such as 2026-11-20T06:30:00Z\n' +
          '- run: received an unknown member, expected one of scheduledTime, audit\n' +
          '- clusters: received an unknown member, expected one of scheduledTime, audit\n' +
          'An empty event {} audits now.',
      ),
    );
  });

  it('takes no time that is more than a day old: its seal would say that it listed a day later', () => {
    expect(at('2026-11-22T12:00:00Z')).toEqual(new Date('2026-11-22T12:00:00Z'));
    expect(() => at('2026-11-22T11:59:59Z')).toThrow('"2026-11-22T11:59:59Z", expected a time of the last 24 hours');
  });

  it('takes no time of a later audit, but for what clocks differ', () => {
    expect(at('2026-11-23T12:01:00Z')).toEqual(new Date('2026-11-23T12:01:00Z'));
    expect(() => at('2026-11-23T12:01:01Z')).toThrow(
      '"2026-11-23T12:01:01Z", expected a time that is not in the future',
    );
  });
});
