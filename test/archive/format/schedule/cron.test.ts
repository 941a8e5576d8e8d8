import { CronError, parseCron } from '../../../../archive/format/schedule/cron';

const now = new Date('2026-11-20T12:00:00Z');

/** The first days as dates, and the times of the day as hours and minutes. */
function firings(fields: string, limit = 3) {
  const schedule = parseCron(`cron(${fields})`, now);
  return {
    times: schedule.times.map((time) => `${Math.floor(time / 60)}:${String(time % 60).padStart(2, '0')}`),
    days: [...schedule.days(now, limit)].map((date) => date.toISOString().slice(0, 10)),
  };
}

function rejection(expression: string): CronError {
  try {
    parseCron(expression, now);
  } catch (error) {
    if (error instanceof CronError) return error;
    throw error;
  }
  throw new Error(`${expression} was accepted`);
}

const onAnyDay = (time: string) => `cron(${time} * * ? *)`;

describe('a cron expression', () => {
  describe('that the scheduler documents', () => {
    it.each([
      ['0 10 * * ? *', ['10:00'], ['2026-11-19', '2026-11-20', '2026-11-21']],
      ['15 12 * * ? *', ['12:15'], ['2026-11-19', '2026-11-20', '2026-11-21']],
      ['0 18 ? * MON-FRI *', ['18:00'], ['2026-11-19', '2026-11-20', '2026-11-23']],
      ['0 8 1 * ? *', ['8:00'], ['2026-12-01', '2027-01-01', '2027-02-01']],
      ['0/15 8 * * ? *', ['8:00', '8:15', '8:30', '8:45'], ['2026-11-19', '2026-11-20', '2026-11-21']],
      ['1/20 0 * * ? *', ['0:01', '0:21', '0:41'], ['2026-11-19', '2026-11-20', '2026-11-21']],
      ['0 20,22-23 ? JAN,MAR 1 *', ['20:00', '22:00', '23:00'], ['2027-01-03', '2027-01-10', '2027-01-17']],
      ['0 0 ? * 7 *', ['0:00'], ['2026-11-21', '2026-11-28', '2026-12-05']],
      ['0 0 L * ? *', ['0:00'], ['2026-11-30', '2026-12-31', '2027-01-31']],
      ['0 0 ? * L *', ['0:00'], ['2026-11-21', '2026-11-28', '2026-12-05']],
      ['15 10 ? * 6L 2027-2028', ['10:15'], ['2027-01-29', '2027-02-26', '2027-03-26']],
      ['0 0 3W * ? *', ['0:00'], ['2026-12-03', '2027-01-04', '2027-02-03']],
      ['0 0 1W 5 ? *', ['0:00'], ['2027-05-03', '2028-05-01', '2029-05-01']],
      ['0 0 ? * 3#2 *', ['0:00'], ['2026-12-08', '2027-01-12', '2027-02-09']],
      ['0 0 ? * TUE#2 *', ['0:00'], ['2026-12-08', '2027-01-12', '2027-02-09']],
      ['0 0 1 1 ? 2027/5', ['0:00'], ['2027-01-01', '2032-01-01', '2037-01-01']],
      ['5 0-23/12 29 2 ? *', ['0:05', '12:05'], ['2028-02-29', '2032-02-29', '2036-02-29']],
    ])('is due when it says: cron(%s)', (fields, times, days) => {
      expect(firings(fields)).toEqual({ times, days });
    });
  });

  describe('that the scheduler rejects or does not document', () => {
    const rejected = {
      expression: ['rate(1 hour)', '0 * * * ? *', 'cron(0 * * * ?)', 'cron(0 0 * * * ? *)', 'cron( 0 * * * ? *)'],
      minutes: ['60 0', '/5 0', '0/0 0', '0/60 0', '? 0', '1, 0', '*,5 0', '*-5 0', '-1 0'].map(onAnyDay),
      hours: ['0 24', '0 22-2'].map(onAnyDay),
      'day-of-month': ['0', '32W', '1,15W', 'LW', 'L-3'].map((days) => `cron(0 0 ${days} * ? *)`),
      month: ['0', 'jan', 'MON'].map((month) => `cron(0 0 1 ${month} ? *)`),
      'day-of-week': ['0', '8', '2/2', '3#6', '3#1,6#3', '+MON'].map((days) => `cron(0 0 ? * ${days} *)`),
      year: ['1969', '2200'].map((year) => `cron(0 0 1 1 ? ${year})`),
      'expression, by its two kinds of days': ['* * *', '? * ?', '1 * MON'].map((days) => `cron(0 0 ${days} *)`),
    };

    it.each(
      Object.entries(rejected).flatMap(([field, expressions]) => expressions.map((one) => [one, field] as const)),
    )('is rejected: %s, and the error names %s', (expression, field) => {
      expect(rejection(expression).field).toBe(field.split(',')[0]);
    });

    it('gives an error with what was received and what was expected', () => {
      const error = rejection('cron(0 24 * * ? *)');
      expect(error).toMatchObject({ name: 'CronError', field: 'hours', received: '24' });
      expect(error.message).toBe(
        'Reading the schedule failed: hours is "24", expected *, 0 to 23, and what EventBridge Scheduler documents for hours',
      );
      expect(rejection('cron(0 0 ? * 9 *)').expected).toContain('1 to 7 or SUN to SAT');
    });
  });

  it.each([
    'cron(0 0 30 2 ? *)',
    'cron(0 0 31 4,6,9,11 ? *)',
    'cron(0 0 29 2 ? 2027)',
    'cron(0 0 * * ? 2025)',
    'cron(0 0 1-18 11 ? 2026)',
  ])('is an error if it is never due again: %s', (expression) => {
    expect(rejection(expression)).toMatchObject({ field: 'expression', received: expression });
  });

  it('is accepted if its last day is today', () => {
    expect(firings('0 23 20 11 ? 2026').days).toEqual(['2026-11-20']);
  });
});
