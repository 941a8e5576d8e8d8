import { InvalidAuditEventError, parseAuditEvent } from '../../../lambda/audit/audit-event';

describe('the event of an audit', () => {
  it('names a time, or now', () => {
    expect(parseAuditEvent({ scheduledTime: '2026-11-20T06:30:00Z' })).toEqual(new Date('2026-11-20T06:30:00Z'));
    for (const empty of [{}, null, undefined]) expect(parseAuditEvent(empty)).toBeUndefined();
  });

  it('is refused with all its problems at once', () => {
    expect(() => parseAuditEvent({ scheduledTime: 'tomorrow', run: 'x', clusters: [] })).toThrow(
      new InvalidAuditEventError([
        'event: received the unknown member "run", expected only scheduledTime',
        'event: received the unknown member "clusters", expected only scheduledTime',
        'scheduledTime: received "tomorrow", expected a time such as 2026-11-20T06:30:00Z',
      ]),
    );
    for (const event of [[], 'x', 5]) expect(() => parseAuditEvent(event)).toThrow('expected an object');
    expect(() => parseAuditEvent({ scheduledTime: '2026-02-30T00:00:00Z' })).toThrow('2026-02-30');
  });
});
