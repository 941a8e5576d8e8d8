import type { ClusterSource } from './demo-answer';
import { demoLog } from './demo-log';
import { demoManifest } from './demo-manifest';
import { pick, seededRandom } from './seeded-random';

const minute = 60_000;

/** Made-up content for any uid, the same for the same uid and time: logs grow, some manifests change, states vary. */
export function demoContent(): ClusterSource {
  return {
    log: async (uid, at) => ({ log: demoLog(uid, at), state: demoState(uid, at), lastModified: floorToMinute(at) }),
    manifest: async (uid, at) => demoManifest(uid, at),
  };
}

/** The contract does not show the values of `status.state` (service contract, section 3): these are the demo's own. */
const states = ['Available', 'Available', 'Available', 'Collecting', 'Outdated'] as const;

function demoState(uid: string, at: Date): string {
  return pick(seededRandom(`state of ${uid} in ${Math.floor(at.getTime() / (20 * minute))}`), states);
}

function floorToMinute(at: Date): Date {
  return new Date(Math.floor(at.getTime() / minute) * minute);
}
