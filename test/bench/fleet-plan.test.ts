import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { concurrentShards, eventsPerShard, memoryMiB, mostShards } from '../../infra/limits';
import { functionTimeoutSeconds, mostConcurrentShards } from '../../lambda/time-limits';

const guide = readFileSync(join(__dirname, '..', '..', 'docs', 'large-fleets.md'), 'utf8');

/** A fleet, and how fast its service answers. */
interface Fleet {
  readonly clusters: number;
  /** Log of one cluster, in MB. */
  readonly logMB: number;
  /** Time to the first byte of a response, in milliseconds. */
  readonly latencyMs: number;
}

const assumptions = {
  /** The default of `limits.concurrency`. */
  concurrency: 16,
  /** How long a shard should take. It may take 15 minutes. */
  minutesOfShard: 10,
  manifestMB: 0.015,
  /** Processor time per cluster, apart from its bytes, in milliseconds: fitted to measurements. */
  processorMsPerCluster: 3.5,
  /** Processor time to receive, check, hash and compress one MB, in milliseconds: fitted to measurements. */
  processorMsPerMB: 15,
  /** Speed of a Lambda processor relative to the measured one. */
  lambdaProcessor: 0.7,
  /** Network throughput of one function, in MB per second: what others have published. */
  networkMBPerSecond: 70,
  /** Time per request beside the latency, in milliseconds: the write to S3 and the rest. */
  overheadMs: 5,
  dollarsPerGBSecond: 0.000_013_333_4,
  dollarsPerPut: 0.000_005,
  dollarsPerTransition: 0.000_025,
} as const;

/** The number of shards with which each ends in ten minutes, and what a run costs then, without storage. */
function planFleet({ clusters, logMB, latencyMs }: Fleet) {
  const a = assumptions;
  const perCluster = logMB + a.manifestMB;
  // Clusters per second.
  const latencyLimit = (a.concurrency * 1000) / (2 * (latencyMs + a.overheadMs));
  const processorLimit = (a.lambdaProcessor * 1000) / (a.processorMsPerCluster + a.processorMsPerMB * perCluster);
  const networkLimit = a.networkMBPerSecond / perCluster;
  const clustersPerSecond = Math.min(latencyLimit, processorLimit, networkLimit);
  const needed = Math.ceil(clusters / (clustersPerSecond * a.minutesOfShard * 60));
  // A last turn of few shards would take as long as a full one.
  const fullTurns = Math.ceil(needed / mostConcurrentShards) * mostConcurrentShards;
  const shards = needed <= mostConcurrentShards ? needed : fullTurns;
  const secondsOfShard = clusters / shards / clustersPerSecond;
  const turns = Math.ceil(shards / concurrentShards(shards));
  const gigabytes = memoryMiB({ concurrency: a.concurrency }) / 1024;
  const transitions = shards === 1 ? 0 : 6 + 2 * shards;
  const dollars =
    shards * secondsOfShard * gigabytes * a.dollarsPerGBSecond +
    2 * clusters * a.dollarsPerPut +
    transitions * a.dollarsPerTransition;
  const requestsPerSecond = 2 * clustersPerSecond * concurrentShards(shards);
  return { shards, minutes: (turns * secondsOfShard) / 60, requestsPerSecond, dollars };
}

const grouped = (value: number) => Math.round(value).toLocaleString('en-US');

/** The rows of the guide's table: clusters, log, latency; then what follows from them. */
const rows = [...guide.matchAll(/^\| ([\d,]+) \| ([\d.]+) MB \| (\d+) ms \| (.*) \|$/gm)];

describe('the plan of a fleet', () => {
  it.each(
    rows.map(([, ...row]) => row),
  )('%s clusters, %s MB, %s ms: matches the guide', (clusters, log, latency, said) => {
    const fleet = { clusters: Number(clusters?.replaceAll(',', '')), logMB: Number(log), latencyMs: Number(latency) };
    const { shards, minutes, requestsPerSecond, dollars } = planFleet(fleet);
    const requests = requestsPerSecond < 10 ? requestsPerSecond.toFixed(1) : grouped(requestsPerSecond);
    expect(said).toBe(`**${shards}** | ${minutes.toFixed(1)} | ${requests} | ${dollars.toFixed(2)}`);
  });

  it('rests on what the guide says', () => {
    expect(rows).toHaveLength(10);
    expect(guide).toContain(`3.5 ms and each of its MB 15 ms`);
    const { processorMsPerCluster, processorMsPerMB, lambdaProcessor, networkMBPerSecond } = assumptions;
    expect([processorMsPerCluster, processorMsPerMB, lambdaProcessor, networkMBPerSecond]).toEqual([3.5, 15, 0.7, 70]);
    const { shards, minutes, dollars, requestsPerSecond } = planFleet({ clusters: 1e6, logMB: 0.1, latencyMs: 100 });
    expect(guide).toContain(`| ${shards} shards, ${Math.round(minutes)} minutes, $${dollars.toFixed(2)}, `);
    expect(guide).toContain(`${shards} shards ask it ${grouped(requestsPerSecond)} times`);
    expect(guide).toContain(`leave ${grouped(mostShards * eventsPerShard + 20)} of them`);
  });

  it('lets a shard end well before the function’s limit and its alarm', () => {
    expect(assumptions.minutesOfShard * 60).toBeLessThan(0.8 * functionTimeoutSeconds);
  });
});
