import { parseRuns, parseRunTime, parseTime } from '../../../cli/commands/time-argument';

const now = new Date('2026-11-20T12:34:56.789Z');
const start = (text: string) => parseTime(text, 'start', now).toISOString();
const end = (text: string) => parseTime(text, 'end', now).toISOString();

describe('a time as a person types it', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T10:05', '2026-11-20T10:05:00.000Z'],
    ['2026-11-20 10:05:07Z', '2026-11-20T10:05:07.000Z'],
    ['2026-11-20T10:05:07.5Z', '2026-11-20T10:05:07.500Z'],
    ['2026-11-20T10:05+01:00', '2026-11-20T09:05:00.000Z'],
    ['2026-11-20T10:05-03:30', '2026-11-20T13:35:00.000Z'],
    ['2026-11-20T10:05:07.123456789z', '2026-11-20T10:05:07.123Z'],
    ['20261120T100000.000Z', '2026-11-20T10:00:00.000Z'],
    ['now', '2026-11-20T12:34:56.789Z'],
    ['today', '2026-11-20T00:00:00.000Z'],
    ['yesterday', '2026-11-19T00:00:00.000Z'],
    ['Yesterday 03:00', '2026-11-19T03:00:00.000Z'],
    ['today 01:00+02:00', '2026-11-19T23:00:00.000Z'],
    ['45s ago', '2026-11-20T12:34:11.789Z'],
    ['90 min ago', '2026-11-20T11:04:56.789Z'],
    ['2h ago', '2026-11-20T10:34:56.789Z'],
    ['1 hour ago', '2026-11-20T11:34:56.789Z'],
    ['3 days ago', '2026-11-17T12:34:56.789Z'],
    ['2w ago', '2026-11-06T12:34:56.789Z'],
    ['2h', '2026-11-20T10:34:56.789Z'],
    ['3 days', '2026-11-17T12:34:56.789Z'],
    ['last week', '2026-11-13T12:34:56.789Z'],
    ['last hour', '2026-11-20T11:34:56.789Z'],
    // The 20th is a Friday.
    ['thursday', '2026-11-19T00:00:00.000Z'],
    ['last Friday', '2026-11-13T00:00:00.000Z'],
    ['saturday 03:00', '2026-11-14T03:00:00.000Z'],
    ['999999 weeks ago', '1970-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(start(text)).toBe(expected);
  });

  it.each([
    ['2026-11-20', '2026-11-20T23:59:59.999Z'],
    ['yesterday', '2026-11-19T23:59:59.999Z'],
    ['monday', '2026-11-16T23:59:59.999Z'],
    ['2026-11-20T22:00', '2026-11-20T22:00:00.000Z'],
    ['yesterday 22:00', '2026-11-19T22:00:00.000Z'],
  ])('%s as the end of a period is %s', (text, expected) => {
    expect(end(text)).toBe(expected);
  });

  it.each([
    '',
    'noon',
    'yesterdays',
    'tomorrow',
    '3 months ago',
    '-2h ago',
    '2026-11',
    '2026-11-20Z',
    '20261120',
    '2026-11-20T',
    '1763632800',
  ])('%j is rejected, and the message names what is accepted', (text) => {
    expect(() => start(text)).toThrow(/expected a date \(2026-11-20\).*yesterday, today 03:00, tuesday, 2h, /);
  });

  it.each([
    ...['2026-02-31', '2026-13-01', '2025-02-29', '20260230T100000.000Z', 'today 25:00'],
    ...['2026-11-20T24:30', '2026-11-20T10:61', '2026-11-20T10:00+25:00'],
  ])('%s does not become another day or time', (text) => {
    expect(() => start(text)).toThrow('this time does not exist');
  });
});

describe('which runs somebody asks for', () => {
  it.each([
    ['2026-11-20T10:00:00Z', { run: '2026-11-20T10:00:00.000Z' }],
    ['yesterday 10:00', { run: '2026-11-19T10:00:00.000Z' }],
    ['yesterday', { from: '2026-11-19T00:00:00.000Z', to: '2026-11-19T23:59:59.999Z' }],
    ['2026-11-18', { from: '2026-11-18T00:00:00.000Z', to: '2026-11-18T23:59:59.999Z' }],
    ['2h', { from: '2026-11-20T10:34:56.789Z' }],
  ])('%s', (text, expected) => {
    expect(JSON.parse(JSON.stringify(parseRuns(text, now)))).toEqual(expected);
  });

  it('and neither of them is refused with what is accepted', () => {
    expect(() => parseRuns('noon', now)).toThrow('expected the time of one run');
  });
});

describe('the time of one run', () => {
  it.each([
    '2026-11-20T10:00:00Z',
    '2026-11-20 10:00:00Z',
    '20261120T100000.000Z',
    '2026-11-20T10:00',
  ])('%s is taken', (text) => {
    expect(parseRunTime(text).toISOString()).toBe('2026-11-20T10:00:00.000Z');
  });

  it.each(['2026-11-20', 'yesterday', '2h ago', 'now', 'noon'])('%s is not: it names no single run', (text) => {
    expect(() => parseRunTime(text)).toThrow('expected the time of one run, as `runs` prints it');
  });

  it('a day is answered with the options that take one', () => {
    expect(() => parseRunTime('2026-11-20')).toThrow('--from and --to take a day');
  });
});
