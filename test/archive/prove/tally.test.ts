import { objectKey, runRecordKey } from '../../../archive/format/keys';
import { SealChain } from '../../../archive/prove/seals/seal-chain';
import { Tally } from '../../../archive/prove/tally';

const run = new Date('2026-11-20T06:00:00Z');

describe('what a verification counts', () => {
  it('takes for an expired object only an object: a run record that is gone says nothing of a cluster that was misspelt', () => {
    const tally = new Tally(new SealChain({}, () => undefined), {});
    const keys = [objectKey({ resource: 'log', cluster: 'a', run }), runRecordKey({ run, attempt: 1 })];
    for (const key of keys) tally.take({ expired: { kind: 'missing', key, problem: 'it is gone' } });
    expect(tally.counts.expired).toBe(1);
  });

  it('counts what is wrong with one key once, as a seal does, with all that is said of it', () => {
    const tally = new Tally(new SealChain({}, () => undefined), {});
    const key = runRecordKey({ run, attempt: 1 });
    for (const problem of ['it is late', 'it counts 3', 'it is late']) tally.find('contradiction', key, problem);
    tally.find('damaged', key, 'it is cut');
    const { seen, wrong } = tally.verdict();
    expect(seen.found).toMatchObject({ contradiction: 1, damaged: 1 });
    expect(wrong).toMatchObject([
      { kind: 'damaged', key, problem: 'it is cut' },
      { kind: 'contradiction', key, problem: 'it is late; it counts 3' },
    ]);
  });

  it.each([
    ['the first', [undefined, 'known']],
    ['the second', ['known', undefined]],
  ])('takes for acknowledged only what is so in all that is said of it: not %s', (_, whys) => {
    const tally = new Tally(new SealChain({}, () => undefined), {});
    const key = runRecordKey({ run, attempt: 1 });
    for (const [at, acknowledged] of whys.entries())
      tally.say({ kind: 'contradiction', key, problem: `problem ${at}`, acknowledged });
    tally.say({ kind: 'missing', key, problem: 'it is gone', acknowledged: 'known' });
    const { seen, wrong } = tally.verdict();
    expect([seen.acknowledged, wrong.map(({ acknowledged }) => acknowledged)]).toEqual([1, ['known', undefined]]);
  });
});
