import type { Resource } from '../lambda/resources';
import type { ContenderName } from './contenders';

/** What is collected, and how slow the service and the archive are. */
export interface Workload {
  readonly clusters: number;
  readonly resources: readonly Resource[];
  readonly logBytes: number;
  readonly manifestBytes: number;
  /** Whether the service answers in gzip where it is accepted; left out: it does not. */
  readonly serviceCompresses?: true;
  /** Delay before each response, in milliseconds. */
  readonly serviceLatencyMs: number;
  readonly sinkLatencyMs: number;
  /** Bodies in flight at once, for contenders that have a limit. */
  readonly concurrency: number;
  /** How often all of it is collected in one process, one run after the other; left out: once. */
  readonly runs?: number;
}

/** One row of a scenario's table. */
export interface Entry {
  readonly name: string;
  readonly contender: ContenderName;
  readonly workload: Workload;
  /** Why it may fail. Its failure is then a result, not an error. */
  readonly mayFail?: string;
}

/** One figure of a row. */
export type Measure = 'wallMs' | 'wallMsPerCluster' | 'cpuMs' | 'peakBytes' | 'wireBytes';

/** The ratio of one figure between two rows, and its goal. */
export interface Comparison {
  readonly measure: Measure;
  readonly of: string;
  readonly to: string;
  /** The goal; left out: the ratio is shown without one. */
  readonly atMost?: number;
}

/** Rows that are measured in turn in every round: a machine that slows down then affects all of them alike. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly comparisons: readonly Comparison[];
}

const mega = 1_000_000;

const fleet: Workload = {
  clusters: 1000,
  resources: ['log', 'manifest'],
  logBytes: 100_000,
  manifestBytes: 20_000,
  serviceLatencyMs: 0,
  sinkLatencyMs: 0,
  concurrency: 128,
};

const smallBodies: Workload = {
  ...fleet,
  logBytes: 10_000,
  manifestBytes: 2_000,
  serviceLatencyMs: 50,
  sinkLatencyMs: 20,
};

const oneLog: Workload = { ...fleet, clusters: 1, resources: ['log'], logBytes: 200 * mega };

/** In the order of the table. */
const allContenders: ContenderName[] = [
  ...(['ours, gzip', 'ours, zstd', 'Promise.all', 'Promise.all, gzip 1', 'fetch to Upload', 'boto3'] as const),
  ...(['boto3, gzip 1', 'rclone, unchecked', 'raw sockets, gzip', 'raw sockets, zstd'] as const),
];

/** Without the rows that only show the effect of the compression level. */
const mainContenders = allContenders.filter((name) => !name.endsWith('gzip 1') && name !== 'raw sockets, gzip');

/** Our row beside a compressing service, from the same service when it does not compress. */
const plainRow = 'ours, gzip, plain service';

const entriesOf = (names: readonly ContenderName[], workload: Workload): Entry[] =>
  names.map((contender) => ({ name: contender, contender, workload }));

const ratioOf =
  (measure: Measure) =>
  (of: string, to: string, atMost?: number): Comparison => ({ measure, of, to, ...(atMost && { atMost }) });

const wall = ratioOf('wallMs');
const peak = ratioOf('peakBytes');
const cpu = ratioOf('cpuMs');
const wire = ratioOf('wireBytes');

function fleetScenario(
  serviceLatencyMs: number,
  sinkLatencyMs: number,
  names: readonly ContenderName[],
  comparisons: readonly Comparison[],
): Scenario {
  return {
    name: `fleet-${serviceLatencyMs}ms`,
    title: `1,000 clusters, 100 KB log and 20 KB manifest each; service answers after ${serviceLatencyMs} ms, archive after ${sinkLatencyMs} ms`,
    entries: entriesOf(names, { ...fleet, serviceLatencyMs, sinkLatencyMs }),
    comparisons,
  };
}

/** The same rows with a service that compresses, and our row with one that does not. */
function compressing({ name, title, entries }: Scenario, comparisons: readonly Comparison[]): Scenario {
  const [ours] = entries;
  return {
    name: `${name}-compressed`,
    title: `${title}; the service compresses`,
    entries: [
      ...entries.map((entry) => ({ ...entry, workload: { ...entry.workload, serviceCompresses: true as const } })),
      ...(ours === undefined ? [] : [{ ...ours, name: plainRow }]),
    ],
    comparisons: [...comparisons, wall('ours, gzip', plainRow)],
  };
}

/** What users ask for, without a goal. */
const usualRatios = [wall('ours, gzip', 'Promise.all'), wall('ours, gzip', 'boto3')];

const fleets = [
  fleetScenario(50, 20, allContenders, [
    wall('ours, gzip', 'Promise.all', 0.55),
    wall('ours, gzip', 'boto3', 0.65),
    wall('ours, zstd', 'Promise.all', 0.45),
    wall('ours, zstd', 'boto3', 0.5),
    wall('ours, gzip', 'Promise.all, gzip 1'),
    wall('ours, gzip', 'boto3, gzip 1'),
    wall('ours, gzip', 'fetch to Upload'),
    peak('ours, gzip', 'fetch to Upload'),
    peak('ours, gzip', 'Promise.all', 0.35),
    peak('ours, zstd', 'Promise.all', 0.35),
    cpu('ours, zstd', 'raw sockets, zstd', 2.5),
    cpu('ours, gzip', 'raw sockets, gzip', 1.3),
  ]),
  fleetScenario(0, 0, mainContenders, usualRatios),
  fleetScenario(200, 20, mainContenders, usualRatios),
] as const;

const largeLogs: Scenario = {
  name: 'large-logs',
  title: 'One log of 200 MB, and one of 1 GB',
  entries: [
    ...entriesOf(
      [
        'ours, gzip',
        'ours, zstd',
        'Promise.all',
        'Promise.all, gzip 1',
        'fetch to Upload',
        'boto3',
        'raw sockets, gzip',
      ],
      oneLog,
    ),
    ...entriesOf(['ours, gzip', 'ours, zstd', 'Promise.all'], { ...oneLog, logBytes: 1000 * mega }).map((entry) => ({
      ...entry,
      name: `${entry.name}, 1 GB`,
      ...(entry.contender === 'Promise.all' && { mayFail: 'V8 has no string of 1 GB' }),
    })),
  ],
  comparisons: [
    wall('ours, gzip', 'Promise.all', 0.55),
    wall('ours, gzip', 'Promise.all, gzip 1'),
    wall('ours, gzip', 'fetch to Upload'),
    wall('ours, gzip', 'raw sockets, gzip'),
    cpu('ours, gzip', 'raw sockets, gzip', 1.3),
    peak('ours, gzip', 'Promise.all', 0.15),
    peak('ours, gzip, 1 GB', 'ours, gzip', 1.1),
    peak('ours, zstd, 1 GB', 'ours, zstd', 1.1),
  ],
};

export const scenarios: readonly Scenario[] = [
  ...fleets,
  compressing(fleets[0], [
    wall('ours, gzip', 'Promise.all', 0.26),
    wall('ours, gzip', 'boto3', 0.45),
    wall('ours, zstd', 'Promise.all'),
    wall('ours, zstd', 'boto3'),
    wall('ours, gzip', 'fetch to Upload'),
    peak('ours, gzip', 'Promise.all'),
    cpu('ours, gzip', 'raw sockets, gzip', 1.3),
    cpu('ours, zstd', 'raw sockets, zstd'),
    wire('ours, gzip', plainRow),
  ]),
  compressing(fleets[1], usualRatios),
  compressing(fleets[2], usualRatios),
  largeLogs,
  compressing(largeLogs, [
    wall('ours, gzip', 'Promise.all', 0.22),
    wall('ours, gzip', 'fetch to Upload'),
    wall('ours, gzip', 'boto3'),
    cpu('ours, gzip', 'raw sockets, gzip', 1.3),
    peak('ours, gzip, 1 GB', 'ours, gzip', 1.05),
    peak('ours, zstd, 1 GB', 'ours, zstd', 1.05),
    wire('ours, gzip', plainRow, 0.3),
  ]),
  {
    name: 'growth',
    title:
      '1,000, 3,000 and 10,000 clusters, 10 KB log and 2 KB manifest each; service answers after 50 ms, archive after 20 ms',
    entries: [
      { name: '1,000 clusters', contender: 'ours, gzip', workload: smallBodies },
      { name: '3,000 clusters', contender: 'ours, gzip', workload: { ...smallBodies, clusters: 3000 } },
      { name: '10,000 clusters', contender: 'ours, gzip', workload: { ...smallBodies, clusters: 10_000 } },
      {
        name: '1,000 clusters, ten runs in one process',
        contender: 'ours, gzip',
        workload: { ...smallBodies, runs: 10 },
      },
    ],
    comparisons: [
      { measure: 'wallMsPerCluster', of: '10,000 clusters', to: '1,000 clusters', atMost: 1.05 },
      peak('10,000 clusters', '1,000 clusters', 1.15),
      peak('10,000 clusters', '3,000 clusters'),
      peak('10,000 clusters', '1,000 clusters, ten runs in one process'),
    ],
  },
];

/** A hundredth of the work, without goals. It takes seconds and shows only that everything works. */
export function quickVersion(scenario: Scenario): Scenario {
  const fewer = (amount: number) => Math.min(amount, Math.max(20, amount / 100));
  return {
    ...scenario,
    title: `${scenario.title}; here a hundredth of it`,
    comparisons: scenario.comparisons.map(({ measure, of, to }) => ({ measure, of, to })),
    entries: scenario.entries.map((entry) => ({
      ...entry,
      workload: {
        ...entry.workload,
        clusters: entry.workload.clusters === 1 ? 1 : fewer(entry.workload.clusters),
        logBytes: entry.workload.logBytes > mega ? entry.workload.logBytes / 100 : entry.workload.logBytes,
      },
    })),
  };
}
