import type { ConfiguredCluster } from '../../archive/format/configuration';
import { changeOf } from '../../archive/format/list-in-force';
import type { Run } from '../../archive/read';
import { type ClusterChange, isChange } from '../terminal/cluster-change';
import { formatTime } from '../terminal/format';

type Collected = readonly ConfiguredCluster[] | undefined;

/** How a list of clusters from outside changed what is collected, from run to run, oldest first. */
export class ListChanges {
  /** Of the runs that changed something, or whose list was refused. */
  readonly all: ClusterChange[] = [];

  readonly #collectedIn: (run: Run) => Promise<Collected>;

  /** @param collectedIn reads what a run collected; undefined: its configuration cannot be used */
  constructor(collectedIn: (run: Run) => Promise<Collected>) {
    this.#collectedIn = collectedIn;
  }

  /**
   * @param earlier finds the run before it
   * @returns undefined if the run read no list
   */
  async add(run: Run, earlier: () => Promise<Run | undefined>): Promise<ClusterChange | undefined> {
    const read = run.starts.findLast(({ clusterList }) => clusterList !== undefined)?.clusterList;
    if (read === undefined) return undefined;
    const clusters = await this.#collectedIn(run);
    const previous = clusters && (await earlier());
    const before = (previous && (await this.#collectedIn(previous))) ?? clusters ?? [];
    const change = { run: run.run, read, ...changeOf(before, clusters ?? before) };
    if (isChange(change)) this.all.push(change);
    return change;
  }

  /** Says that a cluster left the list, or is leaving it; undefined: neither, or it is back. */
  leftText(cluster: string): string | undefined {
    const last = this.all.findLast(({ joined, left, began, returned }) =>
      [joined, left, began, returned].some((uids) => uids.includes(cluster)),
    );
    if (last?.left.includes(cluster)) return `${cluster} left the list in force at ${formatTime(last.run)}.`;
    if (!last?.began.includes(cluster)) return undefined;
    return `${cluster} is leaving since ${formatTime(last.run)}: it is not on the list any more, and is collected on for some days.`;
  }
}
