import { auditJudge } from '../../../lambda/audit/audit-judge';
import { judgeOld, newPass } from '../../../lambda/audit/judge-old';
import type { ListedName, ListedObject } from '../../../lambda/verify/archive-reader';
import { SealChain } from '../../../lambda/verify/seals/seal-chain';
import { emptyState } from '../../../lambda/verify/seals/seal-state';
import { MadeUpArchive } from './made-up-archive';

/** Counts the answers of S3 to listings of objects: 1,000 keys or names each. */
class CountedArchive extends MadeUpArchive {
  answers = 0;
  keys = 0;

  override async *list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    if (!/^(logs|manifests)/.test(prefix)) return yield* super.list(prefix, after);
    let listed = 0;
    for await (const object of super.list(prefix, after)) {
      if (listed % 1000 === 0) this.answers += 1;
      listed += 1;
      this.keys += 1;
      yield object;
    }
  }

  override async *listNames(prefix: string): AsyncGenerator<ListedName> {
    this.answers += Math.ceil(this.clusters.length / 1000);
    yield* super.listNames(prefix);
  }
}

const find = () => undefined;

/** An audit that begins a pass over what is there. */
function judgeOf(archive: CountedArchive) {
  const { now } = archive;
  const chain = new SealChain({}, find);
  chain.state = { ...emptyState, cursor: { ...emptyState.cursor, listing: newPass(now, 'listing') } };
  return auditJudge({ archive, chain, now, find, plan: {}, stop: new AbortController().signal });
}

describe('a pass over what is there', () => {
  it.each([
    [3, 2100],
    [1100, 2],
  ])('of %i clusters and %i runs takes an answer for each 1,000 keys, and two for each cluster', async (clusters, runs) => {
    const archive = new CountedArchive({ clusters, runs });
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) times.push(archive.now.getTime() - (runs - run) * 3_600_000 + 1_800_000);
    const { passes } = await judgeOld(judgeOf(archive), { runs: times, rereadDays: undefined, isDue: true });
    expect(passes.listing?.isDone).toBe(true);
    // A listing ends with the first key behind its stretch.
    expect(archive.keys).toBeLessThanOrEqual(2 * clusters * (runs + Math.floor(runs / 1000)));
    const names = 3 * Math.ceil(clusters / 1000);
    expect(archive.answers).toBeLessThanOrEqual((2 * clusters * runs) / 1000 + 2 * clusters + names);
  });
});
