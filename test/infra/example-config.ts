import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem } from '../../archive/format/schema-problems';
import { type CollectorConfig, ConfigError, parseConfig } from '../../infra/config/config';

/** The shipped configuration, as JSON. */
export function exampleJson(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(__dirname, '..', '..', 'collector.json'), 'utf8'));
}

/** The shipped configuration with other members. */
export function exampleConfig(changes: Record<string, unknown> = {}): CollectorConfig {
  return parseConfig({ ...exampleJson(), ...changes }, join(__dirname, 'example.json'));
}

/** The smallest valid configuration. */
export const minimal = {
  name: 'collector',
  service: { baseUrl: 'https://clusters.example.com' },
  clusters: ['a'],
  schedule: { expression: 'cron(0 * * * ? *)' },
};

/** The problems of the ConfigError that an action throws. */
export function problemsOf(action: () => unknown): readonly ConfigProblem[] {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('expected a ConfigError');
}
