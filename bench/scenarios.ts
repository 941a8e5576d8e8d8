import type { Resource } from '../lambda/resources';
import type { ContenderName } from './contenders';

/** What is collected, and how slow the service and the archive are. */
export interface Workload {
  readonly clusters: number;
  readonly resources: readonly Resource[];
  readonly logBytes: number;
  readonly manifestBytes: number;
  /** Whether the service answers in gzip where it is accepted. */
  readonly serviceCompresses: boolean;
  /** Delay before each response, in milliseconds. */
  readonly serviceLatencyMs: number;
  readonly sinkLatencyMs: number;
  /** Bodies in flight at once, for contenders that have a limit. */
  readonly concurrency: number;
}

/** One figure of a row. */
export type Measure = 'wallMs' | 'cpuMs' | 'peakBytes' | 'wireBytes';

/** One row of a scenario's table. */
export interface Entry {
  readonly name: string;
  readonly contender: ContenderName;
  readonly workload: Workload;
  /** The greatest ratio of the first row to this one that is good; left out: the ratio is shown without a goal. */
  readonly goals?: Partial<Record<Measure, number>>;
}

/** Rows that are measured in turn in every round: a machine that slows down then affects all of them alike. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** The first row is compared with all others. */
  readonly entries: readonly Entry[];
}

const mega = 1_000_000;

const fleet: Workload = {
  clusters: 1000,
  resources: ['log', 'manifest'],
  logBytes: 100_000,
  manifestBytes: 20_000,
  serviceCompresses: false,
  serviceLatencyMs: 50,
  sinkLatencyMs: 20,
  concurrency: 128,
};
const fleetTitle =
  '1,000 clusters, 100 KB log and 20 KB manifest each; service answers after 50 ms, archive after 20 ms';

const oneLog: Workload = {
  ...{ ...fleet, clusters: 1, resources: ['log'], logBytes: 200 * mega },
  ...{ serviceLatencyMs: 0, sinkLatencyMs: 0 },
};

const smallBodies: Workload = { ...fleet, logBytes: 10_000, manifestBytes: 2_000 };

/** The goals of our row beside those that do the same work. */
interface Goals {
  readonly promiseAll: Entry['goals'];
  readonly boto3?: Entry['goals'];
}

/** What every scenario but the last compares. */
function besideOthers(workload: Workload, { promiseAll = {}, boto3 = {} }: Goals): Entry[] {
  return [
    { name: 'ours, gzip', contender: 'ours, gzip', workload },
    { name: 'Promise.all', contender: 'Promise.all', workload, goals: promiseAll },
    { name: 'boto3', contender: 'boto3', workload, goals: boto3 },
    { name: 'raw sockets, gzip', contender: 'raw sockets, gzip', workload, goals: { cpuMs: 1.3 } },
  ];
}

const copying = (workload: Workload): Entry => ({
  name: 'rclone, unchecked',
  contender: 'rclone, unchecked',
  workload,
});
const ours = (name: string, workload: Workload, goals = {}): Entry => ({
  name,
  contender: 'ours, gzip',
  workload,
  goals,
});
const compressed = (workload: Workload): Workload => ({ ...workload, serviceCompresses: true });
const oneGigabyte = { logBytes: 1000 * mega };

export const scenarios: readonly Scenario[] = [
  {
    name: 'fleet-50ms',
    title: fleetTitle,
    entries: [
      ...besideOthers(fleet, { promiseAll: { wallMs: 0.55, peakBytes: 0.35 }, boto3: { wallMs: 0.65 } }),
      copying(fleet),
    ],
  },
  {
    name: 'fleet-50ms-compressed',
    title: `${fleetTitle}; the service compresses`,
    entries: [
      ...besideOthers(compressed(fleet), { promiseAll: { wallMs: 0.26 }, boto3: { wallMs: 0.45 } }),
      copying(compressed(fleet)),
      ours('ours, gzip, plain service', fleet),
    ],
  },
  {
    name: 'large-logs',
    title: 'One log of 200 MB, and one of 1 GB',
    entries: [
      ...besideOthers(oneLog, { promiseAll: { wallMs: 0.55, peakBytes: 0.15 } }),
      ours('ours, gzip, 1 GB', { ...oneLog, ...oneGigabyte }),
    ],
  },
  {
    name: 'large-logs-compressed',
    title: 'One log of 200 MB, and one of 1 GB; the service compresses',
    entries: [
      ...besideOthers(compressed(oneLog), { promiseAll: { wallMs: 0.22 } }),
      ours('ours, gzip, 1 GB', compressed({ ...oneLog, ...oneGigabyte })),
      ours('ours, gzip, plain service', oneLog, { wireBytes: 0.3 }),
    ],
  },
  {
    name: 'growth',
    title:
      '10,000 and 1,000 clusters, 10 KB log and 2 KB manifest each; service answers after 50 ms, archive after 20 ms',
    entries: [
      ours('10,000 clusters', { ...smallBodies, clusters: 10_000 }),
      ours('1,000 clusters', smallBodies, { wallMs: 10.5, peakBytes: 1.15 }),
    ],
  },
];

/** A hundredth of the work, without goals. It takes seconds and shows only that everything works. */
export function quickVersion({ name, title, entries }: Scenario): Scenario {
  const fewer = ({ clusters, logBytes, ...workload }: Workload): Workload => ({
    ...workload,
    clusters: Math.min(clusters, Math.max(20, clusters / 100)),
    logBytes: logBytes > mega ? logBytes / 100 : logBytes,
  });
  return {
    name,
    title: `${title}; here a hundredth of it`,
    entries: entries.map(({ goals: _, ...entry }) => ({ ...entry, workload: fewer(entry.workload) })),
  };
}
