import { changeOf } from '../../archive/format/list-in-force';
import type { AuditPlan } from '../../archive/format/plan';
import type { Summary } from '../../archive/format/seal-state';
import { newestList, type SealChain } from '../../archive/prove/attest';
import { type ArchiveReader, configuredClusters, StoredConfigurations } from '../../archive/read';

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
  const configurations = new StoredConfigurations(reader);
  const newest = await newestList(reader, configurations, now);
  if (newest === undefined) return { plan, members: { joined: [], left: [] } };
  const { clusters, sha256: configuration } = newest;
  const sealed = head?.plan.clusterList?.configuration;
  const before = sealed === undefined ? undefined : await configurations.get(sealed);
  const { joined, left } = changeOf(before === undefined ? clusters : configuredClusters(before), clusters);
  return {
    plan: { ...plan, clusters, clusterList: { ...clusterList, configuration } },
    members: { joined: [...joined], left: [...left] },
  };
}
