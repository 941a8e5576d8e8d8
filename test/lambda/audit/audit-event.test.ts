import { parseAuditEvent } from '../../../lambda/audit/audit-event';

const now = new Date('2026-11-20T06:30:00Z');

describe('the event of an audit', () => {
  it('names a time, or now', () => {
    expect(parseAuditEvent({ scheduledTime: '2026-11-20T06:30:00Z' }, now)).toEqual(new Date('2026-11-20T06:30:00Z'));
    for (const empty of [{}, null, undefined]) expect(parseAuditEvent(empty, now)).toBeUndefined();
  });

  it('is refused with all its problems at once', () => {
    expect(() => parseAuditEvent({ scheduledTime: 'tomorrow', run: 'x', clusters: [] }, now)).toThrow(
      new Error(
        'Reading the event failed: 3 problems; nothing was audited.\n' +
          '- event: received the unknown member "run", expected only scheduledTime\n' +
          '- event: received the unknown member "clusters", expected only scheduledTime\n' +
          '- scheduledTime: received "tomorrow", expected a time such as 2026-11-20T06:30:00Z\n' +
          'An empty event {} audits now.',
      ),
    );
    for (const event of [[], 'x', 5]) expect(() => parseAuditEvent(event, now)).toThrow('expected an object');
    expect(() => parseAuditEvent({ scheduledTime: '2026-02-30T00:00:00Z' }, now)).toThrow('2026-02-30');
  });

  it('takes no time of a later audit, but for what clocks differ', () => {
    const at = (scheduledTime: string) => parseAuditEvent({ scheduledTime }, now);
    expect(at('2026-11-20T06:31:00Z')).toEqual(new Date('2026-11-20T06:31:00Z'));
    expect(() => at('2026-11-20T06:31:01Z')).toThrow('"2026-11-20T06:31:01Z", which is in the future');
  });
});
