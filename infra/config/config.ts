import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { type JsonFile, readCertificates, readJsonFile } from './config-files';
import { type ConfigProblem, expectedByDefault, problemsOf } from './config-problems';
import { type CollectorConfig, clustersFile, configSchema } from './config-schema';
import { isExampleAddress, partitionProblem } from './schema-values';

export type { CollectorConfig } from './config-schema';

/** Who gets messages, and how. */
export type Recipients = NonNullable<CollectorConfig['alerts']['page']>;

/** Who is woken up, and who gets everything else; without groups, one list gets all. */
export function recipientsOf({ page, inform, ...all }: CollectorConfig['alerts']): {
  readonly page: Recipients;
  /** Undefined: the same as `page`. */
  readonly inform: Recipients | undefined;
} {
  return { page: page ?? all, inform };
}

/** Most problems that a message lists: thousands of invalid uids would hide the others. */
const shownProblems = 50;

/** The configuration cannot be used. The message lists the problems: path, what was received, what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly file: string,
    readonly problems: readonly ConfigProblem[],
  ) {
    super(messageOf(file, problems));
  }
}

/**
 * Reads and checks a configuration file and the files that it names.
 * @param file path, relative to the current directory
 * @throws ConfigError with all problems at once
 */
export function loadConfig(file: string): CollectorConfig {
  const path = resolve(file);
  const { value, problems } = readJsonFile(path, 'a configuration file; -c config=FILE chooses another one');
  if (problems.length > 0) throw new ConfigError(path, problems);
  return parseConfig(value, path);
}

/**
 * Checks a configuration.
 * @param file path that the value was read from; files that it names are relative to it
 * @throws ConfigError with all problems at once
 */
export function parseConfig(value: unknown, file: string): CollectorConfig {
  const clusters = readNamedClusters(value, file);
  const complete = clusters === undefined ? value : { ...(value as object), clusters: clusters.value };
  const parsed = configSchema.safeParse(complete, { reportInput: true, error: expectedByDefault });
  const problems = parsed.success ? [] : problemsIn(parsed.error, clusters);
  const caCertificate = readNamedCertificate(value, file, problems);
  if (!parsed.success || problems.length > 0) throw new ConfigError(file, problems);
  return { ...parsed.data, service: { ...parsed.data.service, caCertificate } };
}

/**
 * Refuses to deploy a configuration whose service is an example: the stack would fail at every run.
 * @throws ConfigError
 */
export function refuseExample({ service }: CollectorConfig, file: string): void {
  if (!isExampleAddress(service.baseUrl)) return;
  const expected = 'the address of your service: this one is reserved for examples, and nothing answers there';
  throw new ConfigError(file, [{ path: 'service.baseUrl', received: JSON.stringify(service.baseUrl), expected }]);
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

/** A list of clusters from a file of its own. */
interface NamedClusters extends JsonFile {
  /** The file's name, as the configuration has it. */
  readonly file: string;
}

/** The list of clusters, if the configuration names a file in its place. */
function readNamedClusters(value: unknown, file: string): NamedClusters | undefined {
  const named = (value as { clusters?: unknown } | null)?.clusters;
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return undefined;
  const parsed = z
    .looseObject({ clusters: clustersFile })
    .safeParse(value, { reportInput: true, error: expectedByDefault });
  if (!parsed.success) return { file: 'clusters', value: undefined, problems: problemsOf(parsed.error) };
  const { file: name } = parsed.data.clusters;
  const { value: list, problems } = readJsonFile(resolve(dirname(file), name), 'a JSON file with a list of clusters');
  const pathOf = (path: string) => (path === '' ? 'clusters.file' : `${name}, ${path}`);
  return { file: name, value: list, problems: problems.map((problem) => ({ ...problem, path: pathOf(problem.path) })) };
}

/** The problems of a configuration. The path of one in a file of clusters begins with the name of that file. */
function problemsIn(error: z.ZodError, clusters: NamedClusters | undefined): ConfigProblem[] {
  const problems = problemsOf(error);
  if (clusters === undefined) return problems;
  const ofList = ({ path }: ConfigProblem) => /^clusters(?![\w$])/.test(path);
  if (clusters.problems.length > 0) return [...clusters.problems, ...problems.filter((problem) => !ofList(problem))];
  return problems.map((problem) =>
    ofList(problem) ? { ...problem, path: `${clusters.file}${problem.path.slice('clusters'.length)}` } : problem,
  );
}

/** The certificates that the configuration names. A problem with them is added to the problems. */
function readNamedCertificate(value: unknown, file: string, problems: ConfigProblem[]): string | undefined {
  const name = (value as { service?: { caCertificateFile?: unknown } } | null)?.service?.caCertificateFile;
  if (typeof name !== 'string' || name === '') return undefined;
  const read = readCertificates(resolve(dirname(file), name), new Date());
  if ('pem' in read) return read.pem;
  const expected = 'a PEM file with certificates that have not expired';
  const received = `a file that cannot be used (${read.fault})`;
  problems.push({ path: 'service.caCertificateFile', received, expected });
  return undefined;
}

function messageOf(file: string, problems: readonly ConfigProblem[]): string {
  const lines = problems
    .slice(0, shownProblems)
    .map(
      ({ path, received, expected }) => `  ${path === '' ? '' : `${path}: `}received ${received}, expected ${expected}`,
    );
  if (problems.length > shownProblems) lines.push(`  … and ${problems.length - shownProblems} more`);
  return `The configuration ${file} cannot be used:\n${lines.join('\n')}`;
}
