import { formatAge, formatStale } from '../../../cli/terminal/format';

it.each([
  [formatStale(2, 0.5, false), '2 runs, 30 min'],
  [formatStale(7, 47.9, false), '7 runs, 47 h'],
  [formatStale(28, 172, true), 'at least 28 runs, 7 days'],
  [formatAge(-59_000), 'just now'],
  [formatAge(-61_000), 'in the future'],
  [formatAge(59.5 * 60_000), '59 min ago'],
  [formatAge(48 * 3_600_000), '2 days ago'],
])('a time is said in one unit: %s', (text, expected) => {
  expect(text).toBe(expected);
});
