/** How often a random property is tried, in {@link https://fast-check.dev fast-check}'s words. */
export interface Rounds {
  readonly numRuns: number;
  readonly seed?: number;
}

/** Where `test/rounds.soak.test.ts` loads the test file. */
const isMany = process.env.TEST_ROUNDS === 'many';

/**
 * A tenth of so many rounds with a fixed seed, and all of them with a seed by chance where `test/rounds.soak.test.ts`
 * loads the test file.
 */
export function rounds(many: number): Rounds {
  return isMany ? { numRuns: many } : { numRuns: Math.ceil(many / 10), seed: 1 };
}

/** Every third of so many steps, from the first on, and every one where `test/rounds.soak.test.ts` loads the test file. */
export function steps(many: number): number[] {
  return Array.from({ length: many }, (_, step) => step).filter((step) => isMany || step % 3 === 0);
}
