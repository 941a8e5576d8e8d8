import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CaCertificateError, readCaCertificate } from './ca-certificate';
import { type ConfigProblem, expectedByDefault, problemsOf } from './config-problems';
import { type CollectorConfig, configSchema } from './config-schema';
import { JsonTextError, parseJson } from './json-text';

export type { CollectorConfig } from './config-schema';

/** Most problems that a message lists: thousands of invalid uids would hide the others. */
const shownProblems = 50;

/** The configuration cannot be used. The message lists the problems: path, what was received, what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly file: string,
    readonly problems: readonly ConfigProblem[],
    options?: ErrorOptions,
  ) {
    super(messageOf(file, problems), options);
  }
}

/**
 * Reads and checks a configuration file and the certificate file that it names.
 * @param file path, relative to the current directory
 * @throws ConfigError with all problems at once
 */
export function loadConfig(file: string): CollectorConfig {
  const path = resolve(file);
  return parseConfig(readConfigFile(path), path);
}

/**
 * Checks a configuration.
 * @param file path that the value was read from; files that it names are relative to it
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
          received: `invalid JSON (${reason})`,
          expected: 'valid JSON with each member once',
        })),
        { cause: error },
      );
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const received = code === 'ENOENT' ? 'no file' : `a file that cannot be read (${code})`;
    const expected = 'a configuration file; -c config=FILE chooses another one';
    throw new ConfigError(path, [{ path: '', received, expected }], { cause: error });
  }
}

/** The certificates that the configuration names. A problem with them is added to the problems. */
function readNamedCertificate(value: unknown, file: string, problems: ConfigProblem[]): string | undefined {
  const name = (value as { service?: { caCertificateFile?: unknown } } | null)?.service?.caCertificateFile;
  if (typeof name !== 'string' || name === '') return undefined;
  try {
    return readCaCertificate(resolve(dirname(file), name), new Date());
  } catch (error) {
    if (!(error instanceof CaCertificateError)) throw error;
    const expected = 'a PEM file with certificates that have not expired';
    const received = `a file that cannot be used (${error.message})`;
    problems.push({ path: 'service.caCertificateFile', received, expected });
    return undefined;
  }
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
