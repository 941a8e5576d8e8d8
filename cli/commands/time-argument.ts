import { InvalidArgumentError } from 'commander';
import { parseStamp } from '../../lambda/archive/archive-layout';

const dayMs = 86_400_000;

const expected =
  'expected a date (2026-11-20), a date and time (2026-11-20T10:00, with Z or an offset like +01:00; UTC without), ' +
  'or a time as keys write it (20261120T100000.000Z)';

/** One end of a period: a date alone means the day's first moment for `start` and its last for `end`. */
export type Edge = 'start' | 'end';

/**
 * A time as a person types it; UTC where no zone is given.
 * @throws InvalidArgumentError (of the argument parser) that says what is accepted
 */
export function parseTime(text: string, edge: Edge): Date {
  const stamp = parseStamp(text);
  if (stamp !== undefined) return stamp;
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i.exec(
      text.trim(),
    );
  if (match === null) throw new InvalidArgumentError(`${expected}.`);
  const [, date = '', hours, minutes = '00', seconds = '00', fraction = '0', zone = 'Z'] = match;
  const day = new Date(`${date}T00:00:00.000Z`);
  // Date rolls 31 February over into March: a time that does not exist must not become another one.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date)
    throw new InvalidArgumentError('there is no such day.');
  if (hours === undefined) return edge === 'start' ? day : new Date(day.getTime() + dayMs - 1);
  const offset = /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const time = new Date(`${date}T${hours}:${minutes}:${seconds}.${fraction.padEnd(3, '0')}${offset}`);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('there is no such time of day.');
  return time;
}
