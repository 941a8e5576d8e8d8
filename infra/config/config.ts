import { dirname, resolve } from 'node:path';
import leven from 'leven';
import {
  type ConfigProblem,
  parsing,
  problemLines,
  problemsOf,
  unknownMember,
} from '../../archive/format/schema-problems';
import { readJsonFile } from './config-files';
import { type CollectorConfig, configSchema, withClusters } from './config-schema';
import { isExampleAddress, isOwnMachine, partitionProblem } from './schema-values';

export type { CollectorConfig } from './config-schema';

/** Who gets messages, and how. */
export type Recipients = CollectorConfig['alerts']['page'];

/** The configuration cannot be used. The message lists the problems: path, what was received, what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly file: string,
    readonly problems: readonly ConfigProblem[],
  ) {
    super([`The configuration ${file} cannot be used:`, ...problemLines(problems)].join('\n  '));
  }
}

/**
 * Reads and checks a configuration file and the files that it names.
 * @param file path, relative to the current directory
 * @throws ConfigError with all problems at once
 */
export function loadConfig(file: string): CollectorConfig {
  const path = resolve(file);
  const read = readJsonFile(
    path,
    'a configuration file; cdk takes another one by -c config=FILE, our commands by --config FILE',
  );
  if ('problems' in read) throw new ConfigError(path, read.problems);
  return parseConfig(read.value, path);
}

/**
 * Checks a configuration, and reads the files that it names.
 * @param file path that the value was read from
 * @param folder that the files are relative to which it names; left out: that of the file
 * @throws ConfigError with all problems at once
 */
export function parseConfig(value: unknown, file: string, folder = dirname(file)): CollectorConfig {
  const { data, error } = configSchema(folder).safeParse(value, parsing);
  if (error !== undefined) throw new ConfigError(file, problemsOf(error).map(withNearest));
  return withClusters(data);
}

/** Says which of the known members an unknown one is most like, if it is like any. */
function withNearest(problem: ConfigProblem): ConfigProblem {
  const [, list] = /^one of (.*)$/.exec(problem.expected) ?? [];
  if (problem.received !== unknownMember || list === undefined) return problem;
  const [name = ''] = /\w*$/.exec(problem.path) ?? [];
  const most = Math.max(1, Math.floor(name.length / 4));
  const isLike = (known: string) =>
    leven(name.toLowerCase(), known.toLowerCase()) <= most || known.toLowerCase().endsWith(name.toLowerCase());
  const nearest = name === '' ? undefined : list.split(', ').find(isLike);
  return nearest === undefined ? problem : { ...problem, expected: `${problem.expected}; did you mean ${nearest}?` };
}

/**
 * Refuses to deploy a configuration whose service is an example, or on this machine: the stack would fail at every run.
 * @throws ConfigError
 */
export function refuseExample({ service }: CollectorConfig, file: string): void {
  const { baseUrl } = service;
  if (!isExampleAddress(baseUrl) && !isOwnMachine(baseUrl)) return;
  const why = isOwnMachine(baseUrl)
    ? 'no function in AWS reaches this machine'
    : 'this one is reserved for examples, and nothing answers there';
  const expected = `the address of your service: ${why}`;
  throw new ConfigError(file, [{ path: 'service.baseUrl', received: JSON.stringify(baseUrl), expected }]);
}

/**
 * Refuses a region of another partition where the configuration names none.
 * @param region that the command line deploys to; undefined if it does not know one
 * @throws ConfigError
 */
export function refusePartition({ deployTo }: CollectorConfig, region: string | undefined, file: string): void {
  const expected = deployTo === undefined && region !== undefined && partitionProblem(region);
  if (!expected) return;
  throw new ConfigError(file, [{ path: 'region of the credentials', received: region, expected }]);
}
