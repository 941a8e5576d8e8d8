import { problemsOfFleets } from './check-run';

/** As `fleets.test.ts`, with more fleets. */
it('no run of 1,500 random fleets starves a good cluster, asks too often, ends too late or says what is not so', () => {
  expect(problemsOfFleets(0, 1500)).toEqual([]);
}, 3_600_000);
