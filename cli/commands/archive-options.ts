import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Resource, resourceNames } from '../../lambda/resources';
import { type Edge, parseTime } from './time-argument';

export interface ArchiveOption {
  readonly archive: string;
}

export interface JsonOption {
  readonly json?: boolean;
}

export interface PeriodOptions {
  readonly from?: Date;
  readonly to?: Date;
}

/** Adds what every command takes. */
export function withArchive(command: Command): Command {
  return command.option('--archive <location>', 'the archive: a folder or s3://bucket', 'local-archive');
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON for programs instead of text for people');
}

export function withPeriod(command: Command, what: string): Command {
  return command
    .addOption(timeOption('--from <time>', `only ${what} at or after this time`, 'start'))
    .addOption(timeOption('--to <time>', `only ${what} at or before this time`, 'end'));
}

export function timeOption(flags: string, description: string, edge: Edge): Option {
  return new Option(flags, description).argParser((text) => parseTime(text, edge));
}

export function resourceOption(description: string, fallback?: Resource): Option {
  const option = new Option('--resource <resource>', description).choices(resourceNames);
  return fallback === undefined ? option : option.default(fallback);
}

/** A whole number of at least 1. */
export function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new InvalidArgumentError('expected a whole number of at least 1.');
  return count;
}

/**
 * @throws through the parser, as wrong usage, if the period ends before it begins
 */
export function checkPeriod(command: Command, { from, to }: PeriodOptions): void {
  if (from !== undefined && to !== undefined && from > to)
    command.error(
      `error: --from ${from.toISOString()} is later than --to ${to.toISOString()}; expected the earlier time in --from`,
    );
}
