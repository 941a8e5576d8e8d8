import { problemsOfLists } from './list-problems';

/** `list-history.soak.test.ts` plays many more. */
it.each(
  Array.from({ length: 8 }, (_, at) => `lists/${at}`),
)('a history with whatever list somebody writes loses nobody unseen, and raises no false alarm: %s', async (seed) => {
  expect(await problemsOfLists(seed)).toEqual([]);
});
