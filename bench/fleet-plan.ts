import { concurrentShards, memoryMiB, mostConcurrentShards } from '../infra/limits';

/** A fleet and the service it is read from. */
export interface Fleet {
  readonly clusters: number;
  /** Log of one cluster, in MB; its manifest is small beside it. */
  readonly logMB: number;
  /** Until the service's first byte, in milliseconds. */
  readonly latencyMs: number;
}

export interface FleetPlan {
  readonly shards: number;
  readonly minutes: number;
  /** Requests that the service gets, of all shards together. */
  readonly requestsPerSecond: number;
  /** US dollars for one run, without what is stored. */
  readonly dollars: number;
}

/** What the arithmetic rests on. */
export const assumptions = {
  /** The default of `limits.concurrency`. */
  concurrency: 16,
  /** Minutes of its 15 that a shard is to take. */
  minutesOfShard: 10,
  manifestMB: 0.015,
  /** Processor time of one cluster whatever its size, in milliseconds: fitted to measurements. */
  processorMsPerCluster: 3.5,
  /** Receiving, checking, hashing and compressing one MB, in milliseconds: fitted to the same. */
  processorMsPerMB: 15,
  /** What a Lambda processor does in the time in which the measured one does 1. */
  lambdaProcessor: 0.7,
  /** Network of one function, in MB per second: about what others have measured. */
  networkMBPerSecond: 70,
  /** Beside the latency, per request, in milliseconds: writing to S3 and the rest. */
  overheadMs: 5,
  dollarsPerGBSecond: 0.000_013_333_4,
  dollarsPerPut: 0.000_005,
  dollarsPerTransition: 0.000_025,
} as const;

/** As many shards as each ends in ten minutes, and what a run takes then. */
export function planFleet({ clusters, logMB, latencyMs }: Fleet): FleetPlan {
  const a = assumptions;
  const perCluster = logMB + a.manifestMB;
  const ofLatency = (a.concurrency * 1000) / (2 * (latencyMs + a.overheadMs));
  const ofProcessor = (a.lambdaProcessor * 1000) / (a.processorMsPerCluster + a.processorMsPerMB * perCluster);
  const ofNetwork = a.networkMBPerSecond / perCluster;
  const clustersPerSecond = Math.min(ofLatency, ofProcessor, ofNetwork);
  const needed = Math.ceil(clusters / (clustersPerSecond * a.minutesOfShard * 60));
  const shards = needed <= mostConcurrentShards ? needed : wholeTurns(needed);
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

/** A last turn of few shards would take as long as a full one. */
function wholeTurns(shards: number): number {
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
