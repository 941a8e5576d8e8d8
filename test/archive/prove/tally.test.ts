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
});
