import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Collection, type CollectorEnvironment, collectionFile, environmentNames } from './stack-contract';

/** The function was deployed without something that its stack always provides. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** The collection file with the digest that run records name it by. */
export interface LoadedCollection {
  readonly collection: Collection;
  /** SHA-256 of the file, lower-case hex. */
  readonly digest: string;
}

/**
 * Reads the collection file beside the bundle. It was validated when the stack was synthesised and is part of the
 * deployed code, so it is not validated again.
 */
export function loadCollection(directory: string): LoadedCollection {
  const text = readFileSync(join(directory, collectionFile), 'utf8');
  return { collection: JSON.parse(text), digest: createHash('sha256').update(text).digest('hex') };
}

/** @throws SettingsError naming every variable that is not set */
export function readEnvironment(environment: NodeJS.ProcessEnv): CollectorEnvironment {
  const names = Object.values(environmentNames);
  const missing = names.filter((name) => !environment[name]);
  if (missing.length > 0)
    throw new SettingsError(`Reading the environment failed: ${missing.join(', ')} not set; deploy the stack again`);
  const [archiveBucket, apiKeySecret] = [environmentNames.archiveBucket, environmentNames.apiKeySecret];
  return { [archiveBucket]: environment[archiveBucket] ?? '', [apiKeySecret]: environment[apiKeySecret] ?? '' };
}
