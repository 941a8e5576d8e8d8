import type { Workload } from './workload';

/**
 * The function's own bundle, a program for Node in contenders/, or one for Python there. Those that collect check, hash
 * and compress every body, and store it under a condition and with a checksum.
 */
type Program = 'function' | 'promise-all' | 'raw-sockets' | 'verify' | 'raw-reading' | 'python-threads.py';

/** One row of a scenario's table: a program that does the work. */
export interface Entry {
  readonly name: string;
  readonly program: Program;
  readonly workload: Workload;
  /** The greatest ratio of the first row to this one that is good; left out: the ratio is shown without a goal. */
  readonly goals?: Partial<Record<'wallMs' | 'cpuMs' | 'peakBytes', number>>;
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

const shape = { clusters: 1000, runs: 24, logBytes: 100_000, manifestBytes: 20_000 };
const readBack: Workload = { ...fleet, concurrency: 64, reads: { ...shape, from: 'https' } };
const fromFolder: Workload = { ...readBack, reads: { ...shape, from: 'folder' } };
const smallFromFolder: Workload = {
  ...readBack,
  reads: { clusters: 50, runs: 30, logBytes: 1000, manifestBytes: 500, from: 'folder' },
};

const compressed = (workload: Workload): Workload => ({ ...workload, serviceCompresses: true });

/** Ours beside those that do the same work. */
function besideOthers(workload: Workload, promiseAll: Entry['goals'], boto3: Entry['goals'] = {}): Entry[] {
  return [
    { name: 'ours, gzip', program: 'function', workload },
    { name: 'Promise.all', program: 'promise-all', workload, goals: promiseAll },
    { name: 'boto3', program: 'python-threads.py', workload, goals: boto3 },
    { name: 'raw sockets, gzip', program: 'raw-sockets', workload, goals: { cpuMs: 1.3 } },
  ];
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'fleet-50ms',
    title: fleetTitle,
    entries: besideOthers(fleet, { wallMs: 0.55, peakBytes: 0.35 }, { wallMs: 0.65 }),
  },
  {
    name: 'fleet-50ms-compressed',
    title: `${fleetTitle}; the service compresses`,
    entries: besideOthers(compressed(fleet), { wallMs: 0.28 }, { wallMs: 0.45 }),
  },
  {
    name: 'large-logs',
    title: 'One log of 200 MB',
    entries: besideOthers(oneLog, { wallMs: 0.55, peakBytes: 0.15 }),
  },
  {
    name: 'large-logs-compressed',
    title: 'One log of 200 MB; the service compresses',
    entries: besideOthers(compressed(oneLog), { wallMs: 0.22 }),
  },
  {
    name: 'read-back',
    title:
      'Reading back 1,000 clusters x 24 runs over https, log of 100 KB and manifest of 20 KB; S3 answers after 20 ms',
    entries: [
      { name: 'verify', program: 'verify', workload: readBack },
      { name: 'boto3', program: 'python-threads.py', workload: readBack, goals: { wallMs: 0.4 } },
      { name: 'raw sockets', program: 'raw-reading', workload: readBack, goals: { cpuMs: 1.4 } },
    ],
  },
  {
    name: 'read-back-folder',
    title: 'The same from a folder, beside a loop in Python that opens, gunzips and hashes',
    entries: [
      { name: 'verify', program: 'verify', workload: fromFolder },
      { name: 'Python', program: 'python-threads.py', workload: fromFolder, goals: { cpuMs: 2.5 } },
    ],
  },
  {
    name: 'read-back-small',
    title:
      '3,000 small objects of 50 clusters and 30 runs from a folder, beside the same loop: 1 KB and 500 bytes each',
    entries: [
      { name: 'verify', program: 'verify', workload: smallFromFolder },
      { name: 'Python', program: 'python-threads.py', workload: smallFromFolder },
    ],
  },
];

/** A hundredth of the work, without goals. It takes seconds and shows only that everything works. */
export function quickVersion({ name, title, entries }: Scenario): Scenario {
  const fewer = ({ clusters, logBytes, reads, ...workload }: Workload): Workload => ({
    ...workload,
    ...(reads && { reads: { ...reads, clusters: 20, runs: 2 } }),
    clusters: Math.min(clusters, Math.max(20, clusters / 100)),
    logBytes: logBytes > mega ? logBytes / 100 : logBytes,
  });
  return {
    name,
    title: `${title}; here a hundredth of it`,
    entries: entries.map(({ goals: _, ...entry }) => ({ ...entry, workload: fewer(entry.workload) })),
  };
}
