import { Stop } from '../../../lambda/stop';
import { heldBytes } from '../../support/held-bytes';
import { auditMadeUp } from './audit-made-up';
import { MadeUpArchive } from './made-up-archive';

/** A process that audits the archive of a made-up fleet once, and sends what it found and what it took. */
async function main(clusters: number, shards: number, runs: number, mayReadObjects: boolean): Promise<void> {
  const archive = new MadeUpArchive({ clusters, shards, runs });
  const stop = new Stop(() => 3_600_000);
  let held = 0;
  const measure = () => {
    held = Math.max(held, heldBytes());
  };
  archive.onRecord = measure;
  archive.onObject = () => {
    archive.onObject = () => undefined;
    measure();
    if (!mayReadObjects) stop.outOfTime();
  };
  const before = process.cpuUsage();
  const { found, verified } = await auditMadeUp(archive, stop);
  stop.close();
  const { user, system } = process.cpuUsage(before);
  const peak = process.resourceUsage().maxRSS * 1024;
  process.stdout.write(
    `${clusters} clusters, ${runs} runs, objects ${mayReadObjects ? 'read' : 'not read'}: ` +
      `${((user + system) / 1e6).toFixed(1)} s of processor time, held ${inMiB(held)}, at most ${inMiB(peak)} MiB\n`,
  );
  process.send?.({ found, verified, held });
}

function inMiB(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

const [clusters = 0, shards = 0, runs = 0, mayReadObjects = 0] = process.argv.slice(2).map(Number);
void main(clusters, shards, runs, mayReadObjects === 1);
