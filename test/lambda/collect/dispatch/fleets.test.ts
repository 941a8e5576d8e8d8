import { problemsOfFleets } from './check-run';

/** Random fleets in simulated time; `fleets.soak.test.ts` has more of them. */
it('no run of 80 random fleets starves a good cluster, asks too often, ends too late or says what is not so', () => {
  expect(problemsOfFleets(0, 80)).toEqual([]);
});
