import { problemsOfLists } from './list-problems';

/** HISTORIES=2000 SEED=x plays more of them, and others. */
const { HISTORIES = '100', SEED = 'lists-soak' } = process.env;

it(`${HISTORIES} histories with whatever list somebody writes lose nobody unseen, and raise no false alarm`, async () => {
  for (let at = 0; at < Number(HISTORIES); at += 1) expect(await problemsOfLists(`${SEED}/${at}`)).toEqual([]);
}, 7_200_000);
