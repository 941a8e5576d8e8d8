import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CaCertificateError, readCaCertificate } from './ca-certificate';
import { type ConfigProblem, expectedByDefault, problemsOf } from './config-problems';
import { type CollectorConfig, configSchema } from './config-schema';
import { JsonTextError, parseJson } from './json-text';

export type { CollectorConfig } from './config-schema';

/** Problems a message spells out; thousands of broken uids would bury the rest. */
const toldProblems = 50;

/** The configuration cannot be used. The message tells every problem: path, what was received, what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly file: string,
    readonly problems: readonly ConfigProblem[],
    options?: ErrorOptions,
  ) {
    super(tell(file, problems), options);
  }
}

/**
 * Reads and checks a configuration file and the certificate file it names.
 * @param file path, relative to the current directory
 * @throws ConfigError with all problems at once
 */
export function loadConfig(file: string): CollectorConfig {
  const path = resolve(file);
  return parseConfig(readConfigFile(path), path);
}

/**
 * Checks a configuration that was read already.
 * @param file path the value was read from; files that the configuration names are relative to it
 * @throws ConfigError with all problems at once
 */
export function parseConfig(value: unknown, file: string): CollectorConfig {
  const parsed = configSchema.safeParse(value, { reportInput: true, error: expectedByDefault });
  const problems = parsed.success ? [] : problemsOf(parsed.error);
  const caCertificate = readNamedCertificate(value, file, problems);
  if (!parsed.success || problems.length > 0) throw new ConfigError(file, problems);
  return { ...parsed.data, service: { ...parsed.data.service, caCertificate } };
}

function readConfigFile(path: string): unknown {
  try {
    return parseJson(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof JsonTextError)
      throw new ConfigError(
        path,
        error.faults.map(({ line, column, reason }) => ({
          path: `line ${line}, column ${column}`,
          received: reason,
          expected: 'JSON with every member once',
        })),
        { cause: error },
      );
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const received = code === 'ENOENT' ? 'no such file' : code;
    const expected = 'a configuration file; choose another with -c config=FILE';
    throw new ConfigError(path, [{ path: '', received, expected }], { cause: error });
  }
}

/** The certificates the configuration names; what is wrong with them joins the problems. */
function readNamedCertificate(value: unknown, file: string, problems: ConfigProblem[]): string | undefined {
  const name = (value as { service?: { caCertificateFile?: unknown } } | null)?.service?.caCertificateFile;
  if (typeof name !== 'string' || name === '') return undefined;
  try {
    return readCaCertificate(resolve(dirname(file), name), new Date());
  } catch (error) {
    if (!(error instanceof CaCertificateError)) throw error;
    const expected = 'a PEM file with certificates that have not expired';
    problems.push({ path: 'service.caCertificateFile', received: error.message, expected });
    return undefined;
  }
}

function tell(file: string, problems: readonly ConfigProblem[]): string {
  const lines = problems
    .slice(0, toldProblems)
    .map(
      ({ path, received, expected }) => `  ${path === '' ? '' : `${path}: `}received ${received}, expected ${expected}`,
    );
  if (problems.length > toldProblems) lines.push(`  … and ${problems.length - toldProblems} more`);
  return `The configuration ${file} cannot be used:\n${lines.join('\n')}`;
}
