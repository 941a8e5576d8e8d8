import { problemsOfLists } from './list-history';

/** HISTORIES: how many, 2,000 if left out; SEED: another name for all of them. */
const { HISTORIES = '2000', SEED = 'lists-soak' } = process.env;

it(`${HISTORIES} histories with whatever list somebody writes lose nobody unseen, and raise no false alarm`, async () => {
  for (let at = 0; at < Number(HISTORIES); at += 1) expect(await problemsOfLists(`${SEED}/${at}`)).toEqual([]);
}, 7_200_000);
