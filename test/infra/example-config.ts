import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CollectorConfig, parseConfig } from '../../infra/config';

/** The shipped configuration, as a file would hold it. */
export function exampleJson(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(__dirname, '..', '..', 'collector.json'), 'utf8'));
}

/** The shipped configuration with other members. */
export function exampleConfig(changes: Record<string, unknown> = {}): CollectorConfig {
  return parseConfig({ ...exampleJson(), ...changes }, join(__dirname, 'example.json'));
}
