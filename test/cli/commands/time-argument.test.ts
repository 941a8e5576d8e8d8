import { parseTime } from '../../../cli/commands/time-argument';

const start = (text: string) => parseTime(text, 'start').toISOString();

test.each([
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T10', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20T10:05', '2026-11-20T10:05:00.000Z'],
  ['2026-11-20 10:05:07Z', '2026-11-20T10:05:07.000Z'],
  ['2026-11-20T10:05:07.5Z', '2026-11-20T10:05:07.500Z'],
  ['2026-11-20T10:05+01:00', '2026-11-20T09:05:00.000Z'],
  ['2026-11-20T10:05-0330', '2026-11-20T13:35:00.000Z'],
  ['2026-11-20T00:30+02', '2026-11-19T22:30:00.000Z'],
  ['20261120T100000.000Z', '2026-11-20T10:00:00.000Z'],
])('%s is %s', (text, expected) => {
  expect(start(text)).toBe(expected);
});

test('a date alone ends with the last millisecond of its day', () => {
  expect(parseTime('2026-11-20', 'end').toISOString()).toBe('2026-11-20T23:59:59.999Z');
});

test.each([
  '',
  'yesterday',
  '2026-11',
  '2026-11-20Z',
  '20261120',
  '2026-11-20T',
  '1763632800',
])('%j is rejected and what is accepted is named', (text) => {
  expect(() => start(text)).toThrow(/expected a date \(2026-11-20\)/);
});

test.each(['2026-02-31', '2026-13-01', '2025-02-29'])('%s does not become another day', (text) => {
  expect(() => start(text)).toThrow('there is no such day');
});

test.each(['2026-11-20T24:30', '2026-11-20T10:61', '2026-11-20T10:00+25:00'])('%s is no time', (text) => {
  expect(() => start(text)).toThrow('there is no such time of day');
});
