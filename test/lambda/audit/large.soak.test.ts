import { type AuditResult, audit } from '../../../lambda/audit/audit';
import { Stop } from '../../../lambda/stop';
import { heldBytes } from '../../support/held-bytes';
import { TestKey } from './invoke-audit';
import { collectorVersion, MadeUpArchive, type MadeUpFleet } from './made-up-archive';
import { plan } from './sealed-world';

interface Watched {
  readonly mayReadObjects?: boolean;
  /** Called when a run record is to be read. */
  readonly onRecord?: () => void;
}

async function auditOnce(
  fleet: MadeUpFleet,
  { mayReadObjects = false, onRecord = () => {} }: Watched = {},
): Promise<AuditResult> {
  const archive = new MadeUpArchive(fleet);
  const stop = new Stop(() => 3_600_000);
  archive.onRecord = onRecord;
  if (!mayReadObjects) archive.onObject = () => stop.outOfTime();
  let largest = 0;
  const watch = setInterval(() => {
    largest = Math.max(largest, process.memoryUsage.rss());
  }, 50);
  const before = process.cpuUsage();
  try {
    const result = await audit(archive.now, {
      plan: { ...plan, clusters: archive.clusters.map((uid) => ({ uid })) },
      reader: archive,
      sink: { bucket: 'archive', put: async (object) => archive.seals.put(object, archive.now) },
      signer: new TestKey(),
      mail: async () => undefined,
      clock: { now: () => archive.now },
      stop,
      reporter: { sealed: () => undefined, notMailed: () => undefined },
      collectorVersion,
    });
    const { user, system } = process.cpuUsage(before);
    const seconds = ((user + system) / 1e6).toFixed(1);
    const { clusters, runs } = fleet;
    process.stdout.write(
      `${clusters} clusters, ${runs} runs, objects ${mayReadObjects ? 'read' : 'not read'}: ` +
        `${seconds} s of processor time, at most ${Math.round(largest / 2 ** 20)} MiB\n`,
    );
    return result;
  } finally {
    clearInterval(watch);
    stop.close();
  }
}

describe('an audit of a large fleet', () => {
  it('needs no more memory for more runs', async () => {
    const liveBytes = async (runs: number) => {
      let largest = 0;
      const onRecord = () => {
        largest = Math.max(largest, heldBytes());
      };
      await auditOnce({ clusters: 1000, shards: 1, runs }, { onRecord });
      return largest;
    };
    const [few, many] = [await liveBytes(24), await liveBytes(96)];
    // The outcomes of one run take more than two megabytes.
    expect((many - few) / 2 ** 20).toBeLessThan(8);
  }, 3_600_000);

  it('reads everything of 1,000 clusters and 24 runs', async () => {
    const { found, verified } = await auditOnce({ clusters: 1000, shards: 1, runs: 24 }, { mayReadObjects: true });
    expect([found, verified.objects, verified.carriedOver]).toEqual([{}, 48_000, 0]);
  }, 3_600_000);

  it('seals 24 runs of 50,000 clusters, and carries the objects over for which there is no time', async () => {
    const { found, verified } = await auditOnce({ clusters: 50_000, shards: 2, runs: 24 });
    expect([found, verified.carriedOverRecords, verified.objects + verified.carriedOver]).toEqual([{}, 0, 2_400_000]);
  }, 3_600_000);
});
