import { KeyJudgement } from '../../../lambda/dispatch/key-judgement';

const reject = (judgement: KeyJudgement, count: number) => {
  for (let cluster = 0; cluster < count; cluster += 1) judgement.rejected(`cluster-${cluster}`);
  return judgement.isSuspected;
};

it.each([
  [1000, 9, false],
  [1000, 10, true],
  [7, 6, false],
  [7, 7, true],
  [4, 4, false],
])('of %i clusters, %i rejected in a row show that the key is rejected: %s', (clusters, rejected, isSuspected) => {
  expect(reject(new KeyJudgement(clusters, false), rejected)).toBe(isSuspected);
});

it('a key that has worked is not suspected, until another one takes its place', () => {
  const judgement = new KeyJudgement(1000, true);
  expect(reject(judgement, 10)).toBe(false);
  judgement.changed(1, 5);
  // A request that began before: the key that it had worked, and not the new one.
  judgement.accepted(4);
  expect(reject(judgement, 10)).toBe(true);
  judgement.accepted(6);
  expect(reject(judgement, 10)).toBe(false);
});
