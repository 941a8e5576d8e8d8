import { leaversOf } from '../../archive/format/next-list';
import { PastLists } from '../../archive/format/past-lists';
import type { AuditPlan } from '../../archive/format/plan';
import type { Summary } from '../../archive/format/seal-state';
import { pastRecords, type SealChain } from '../../archive/prove/attest';
import { type ArchiveReader, StoredConfigurations } from '../../archive/read';

/** What an audit judges by, where the clusters come from outside. */
export interface FleetInForce {
  /** With the clusters of the newest run. */
  readonly plan: AuditPlan;
  /** Who joined and who left since the seal before; left out: the clusters are deployed. */
  readonly members?: NonNullable<Summary['clusters']>;
}

/** @throws ArchiveReadError if the archive cannot be read */
export async function fleetInForce(
  plan: AuditPlan,
  { head }: Pick<SealChain, 'head'>,
  reader: ArchiveReader,
  now: Date,
): Promise<FleetInForce> {
  const { clusterList } = plan;
  if (clusterList === undefined) return { plan };
  // What is wrong with one is found where its run is judged.
  const records = pastRecords(reader, new StoredConfigurations(reader));
  const newest = await new PastLists(records).newest(now);
  if (newest === undefined) return { plan, members: { joined: [], left: [] } };
  const { clusters } = newest;
  const { configuration } = newest.head;
  const sealed = head?.plan.clusterList?.configuration;
  const before = (sealed === undefined ? undefined : await records.clusters(sealed)) ?? clusters;
  const known = new Set(before.map(({ uid }) => uid));
  const joined = clusters.map(({ uid }) => uid).filter((uid) => !known.has(uid));
  return {
    plan: { ...plan, clusters, clusterList: { ...clusterList, configuration } },
    members: { joined, left: leaversOf(before, clusters) },
  };
}
