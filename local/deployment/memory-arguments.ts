import type { FunctionDefinition } from './function-definition';

/**
 * How Lambda's runtime starts Node: each of the young generation's spaces may take a twentieth of the function's memory,
 * and the rest of the heap nine tenths. Read in the start script of its Node 14 and 18 images; not documented.
 */
export function memoryArguments({ memoryMiB }: Pick<FunctionDefinition, 'memoryMiB'>): string[] {
  const young = Math.floor(memoryMiB / 10);
  return [`--max-semi-space-size=${Math.floor(young / 2)}`, `--max-old-space-size=${memoryMiB - young}`];
}
