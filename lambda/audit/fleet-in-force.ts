import { leaversOf } from '../list/next-list';
import type { AuditPlan } from '../stack-contract';
import type { ArchiveReader } from '../verify/archive-reader';
import { recordsNewestFirst } from '../verify/list-steps';
import { readHead } from '../verify/read-starts';
import type { SealChain } from '../verify/seals/seal-chain';
import type { Summary } from '../verify/seals/seal-state';
import { configuredClusters, type RunConfiguration, StoredConfigurations } from '../verify/stored-configurations';

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
  const configurations = new StoredConfigurations(reader, () => undefined);
  const { sha256, clusters } = (await newest(reader, configurations, now)) ?? {};
  if (clusters === undefined) return { plan, members: { joined: [], left: [] } };
  const sealed = head?.plan.clusterList?.configuration;
  const before = sealed === undefined ? undefined : await configurations.get(sealed);
  const [old, own] = [before === undefined ? clusters : configuredClusters(before), clusters];
  const known = new Set(old.map(({ uid }) => uid));
  const joined = own.map(({ uid }) => uid).filter((uid) => !known.has(uid));
  return {
    plan: { ...plan, clusters, clusterList: { ...clusterList, configuration: sha256 } },
    members: { joined, left: leaversOf(old, own) },
  };
}

/** The list of the newest run record that can be read, as the collector finds it. */
async function newest(reader: ArchiveReader, configurations: StoredConfigurations, now: Date) {
  for await (const object of recordsNewestFirst(reader, { to: now }, now)) {
    const { configuration: sha256 = '' } = (await readHead(reader, object)) ?? {};
    const found: RunConfiguration | undefined = await configurations.get(sha256);
    if (found !== undefined) return { sha256, clusters: configuredClusters(found) };
  }
  return undefined;
}
