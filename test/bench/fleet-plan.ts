import { concurrentShards, memoryMiB } from '../../infra/limits';
import { mostConcurrentShards } from '../../lambda/verify/longest-run';

/** A fleet, and how fast its service answers. */
export interface Fleet {
  readonly clusters: number;
  /** Log of one cluster, in MB. */
  readonly logMB: number;
  /** Time to the first byte of a response, in milliseconds. */
  readonly latencyMs: number;
}

export interface FleetPlan {
  readonly shards: number;
  readonly minutes: number;
  /** Requests to the service, from all shards together. */
  readonly requestsPerSecond: number;
  /** US dollars for one run, without storage. */
  readonly dollars: number;
}

/** The assumptions of the plan. */
export const assumptions = {
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

/** The number of shards with which each ends in ten minutes, and what a run costs then. */
export function planFleet({ clusters, logMB, latencyMs }: Fleet): FleetPlan {
  const a = assumptions;
  const perCluster = logMB + a.manifestMB;
  // Clusters per second.
  const latencyLimit = (a.concurrency * 1000) / (2 * (latencyMs + a.overheadMs));
  const processorLimit = (a.lambdaProcessor * 1000) / (a.processorMsPerCluster + a.processorMsPerMB * perCluster);
  const networkLimit = a.networkMBPerSecond / perCluster;
  const clustersPerSecond = Math.min(latencyLimit, processorLimit, networkLimit);
  const needed = Math.ceil(clusters / (clustersPerSecond * a.minutesOfShard * 60));
  const shards = needed <= mostConcurrentShards ? needed : roundUpToTurns(needed);
  const secondsOfShard = clusters / shards / clustersPerSecond;
  const turns = Math.ceil(shards / concurrentShards(shards));
  const gigabytes = memoryMiB({ concurrency: a.concurrency }) / 1024;
  const transitions = shards === 1 ? 0 : 6 + 2 * shards;
  return {
    shards,
    minutes: (turns * secondsOfShard) / 60,
    requestsPerSecond: 2 * clustersPerSecond * concurrentShards(shards),
    dollars:
      shards * secondsOfShard * gigabytes * a.dollarsPerGBSecond +
      2 * clusters * a.dollarsPerPut +
      transitions * a.dollarsPerTransition,
  };
}

/** Rounds up to full turns: a last turn of few shards would take as long as a full one. */
function roundUpToTurns(shards: number): number {
  return Math.ceil(shards / mostConcurrentShards) * mostConcurrentShards;
}

const fleets: readonly Fleet[] = [
  { clusters: 1_000, logMB: 0.1, latencyMs: 100 },
  { clusters: 10_000, logMB: 0.1, latencyMs: 100 },
  { clusters: 45_000, logMB: 0.1, latencyMs: 100 },
  { clusters: 100_000, logMB: 0.1, latencyMs: 100 },
  { clusters: 100_000, logMB: 0.1, latencyMs: 1000 },
  { clusters: 1_000_000, logMB: 0.1, latencyMs: 100 },
  { clusters: 1_000_000, logMB: 1, latencyMs: 100 },
  { clusters: 100, logMB: 200, latencyMs: 500 },
  { clusters: 1_000, logMB: 200, latencyMs: 500 },
  { clusters: 10_000, logMB: 200, latencyMs: 500 },
];

/** The plans of fleets of many sizes, as a Markdown table. */
export function planTable(): string {
  const rows = fleets.map((fleet) => {
    const { shards, minutes, requestsPerSecond, dollars } = planFleet(fleet);
    return [
      fleet.clusters.toLocaleString('en-US'),
      `${fleet.logMB} MB`,
      `${fleet.latencyMs} ms`,
      `**${shards}**`,
      minutes.toFixed(1),
      requestsPerSecond < 10 ? requestsPerSecond.toFixed(1) : Math.round(requestsPerSecond).toLocaleString('en-US'),
      dollars.toFixed(2),
    ];
  });
  const head = ['clusters', 'log', 'latency', 'shards', 'minutes', 'requests/s', '$ per run'];
  const lines = [head, head.map((_, column) => (column < 3 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
