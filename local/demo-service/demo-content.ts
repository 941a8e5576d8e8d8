import type { ClusterSource } from './cluster-source';
import { demoLog } from './demo-log';
import { demoManifest } from './demo-manifest';
import { pick, seededRandom } from './seeded-random';

const minute = 60_000;

/**
 * Made-up content for any uid, the same for the same uid and time: logs grow, some manifests change, states vary. It has
 * no list of clusters of its own, because it knows every cluster; `uids` are those it names when asked.
 */
export function demoContent(uids: readonly string[] = []): ClusterSource {
  return {
    clusterUids: async () => uids,
    log: async (uid, at) => demoLog(uid, at),
    manifest: async (uid, at) => demoManifest(uid, at),
    describe: async (uid, at) => ({ state: demoState(uid, at), lastModified: floorToMinute(at) }),
  };
}

/** The values of `status.state` are not shown (service contract, section 3): these are this demo's own. */
const states = ['Available', 'Available', 'Available', 'Collecting', 'Outdated'] as const;

function demoState(uid: string, at: Date): string {
  return pick(seededRandom(`state of ${uid} in ${Math.floor(at.getTime() / (20 * minute))}`), states);
}

function floorToMinute(at: Date): Date {
  return new Date(Math.floor(at.getTime() / minute) * minute);
}
