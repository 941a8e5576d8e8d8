import { KeyJudgement } from '../../../../lambda/collect/dispatch/key-judgement';

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

it('a key that has worked for anybody is not suspected', () => {
  expect(reject(new KeyJudgement(1000, true), 10)).toBe(false);
  const judgement = new KeyJudgement(1000, false);
  judgement.accepted();
  expect(reject(judgement, 10)).toBe(false);
});
