import type { AuditPlan } from '../../archive/format/plan';
import { newestList, type SealChain } from '../../archive/prove/attest';
import { type ArchiveReader, StoredConfigurations } from '../../archive/read';
import { type ListMembers, listMembers, noMembers } from './list-members';

/** What an audit judges by, where the clusters come from outside. */
export interface FleetInForce {
  /** With the clusters of the newest run. */
  readonly plan: AuditPlan;
  /** Left out: the clusters are deployed. */
  readonly members?: ListMembers;
}

/** @throws ArchiveReadError if the archive cannot be read */
export async function fleetInForce(
  plan: AuditPlan,
  chain: SealChain,
  reader: ArchiveReader,
  now: Date,
): Promise<FleetInForce> {
  const { clusterList } = plan;
  if (clusterList === undefined) return { plan };
  // What is wrong with one is found where its run is judged.
  const configurations = new StoredConfigurations(reader);
  const newest = await newestList(reader, configurations, now);
  if (newest === undefined) return { plan, members: noMembers };
  const { clusters, sha256: configuration } = newest;
  const members = await listMembers(reader, configurations, chain);
  return { plan: { ...plan, clusters, clusterList: { ...clusterList, configuration } }, members };
}
