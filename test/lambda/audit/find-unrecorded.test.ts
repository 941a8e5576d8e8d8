import { clusterPrefix } from '../../../lambda/archive/archive-layout';
import type { AuditWalk } from '../../../lambda/audit/audit-walk';
import { findUnrecorded } from '../../../lambda/audit/find-unrecorded';
import type { ListedObject } from '../../../lambda/verify/archive-reader';
import { RecordedObjects } from '../../../lambda/verify/recorded-objects';
import { MemoryBucket } from '../verify/history/memory-bucket';

describe('the search for what no record has', () => {
  it('ends when the time is over, also among keys that are none of an archive', async () => {
    const stop = new AbortController();
    let handedOut = 0;
    class Littered extends MemoryBucket {
      override async *list(): AsyncGenerator<ListedObject> {
        for (; handedOut < 1000; handedOut += 1) {
          if (handedOut === 10) stop.abort();
          yield { key: `${clusterPrefix('log', 'a')}litter-${handedOut}`, storedBytes: 0, writtenAt: new Date(0) };
        }
      }
    }
    const walk = { reader: new Littered(), stop: stop.signal, now: new Date() } as unknown as AuditWalk;
    const search = { clusters: ['a'], recorded: new RecordedObjects() };
    expect(await findUnrecorded(walk, search)).toBeUndefined();
    expect(handedOut).toBe(10);
  });
});
