/** How often a random property is tried, in {@link https://fast-check.dev fast-check}'s words. */
export interface Rounds {
  readonly numRuns: number;
  readonly seed?: number;
}

/**
 * A tenth of so many rounds with a fixed seed, and all of them with a seed by chance where `test/rounds.soak.test.ts`
 * loads the test file.
 */
export function rounds(many: number): Rounds {
  return process.env.TEST_ROUNDS === 'many' ? { numRuns: many } : { numRuns: Math.ceil(many / 10), seed: 1 };
}
