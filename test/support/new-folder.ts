import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder in the one that `jest.config.js` removes. */
export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'test-'));
}
