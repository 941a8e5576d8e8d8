import { dayMs } from '../../archive/format/clocks';
import { dateOf } from '../../archive/format/keys';
import { type Resource, resourceNames, resources } from '../../archive/format/resources';
import { isStored } from '../../archive/format/run-record';
import { isAbsent } from '../archive/absent-runs';
import type { RunReader, RunRow } from '../archive/run-reader';
import { noRuns } from '../archive/select-runs';
import { formatBytes, formatCount } from '../terminal/format';
import { type Column, printTable } from '../terminal/table';
import { print, printJson, type Terminal } from '../terminal/terminal';
import { asRecorded, isSelection, type RunOptions } from './options';

/** What growth is told by. */
export const growthBy = ['day', 'cluster'] as const;

type By = (typeof growthBy)[number];

type Folder = (typeof resources)[Resource]['folder'];

/**
 * What an archive holds of something. Lengths, of each resource under the name of its folder, are as stored, in bytes, without
 * the metadata that S3 keeps.
 */
type Held = Record<'runs' | 'objects' | 'runRecords' | Folder, number>;

const folders = resourceNames.map((name) => resources[name].folder);
const nothing = Object.fromEntries(['runs', 'objects', ...folders, 'runRecords'].map((name) => [name, 0])) as Held;

/** Days up to the newest run that are read, unless others are asked for. */
const defaultDays = 30;

/** `list --by`: how an archive grows, and by what. */
export async function printGrowth(
  terminal: Terminal,
  reader: RunReader,
  { by, limit, ...options }: RunOptions & { readonly by: By; readonly limit: number },
): Promise<void> {
  const newest = isSelection(options) ? undefined : (await reader.newestRun())?.run;
  const from = newest && new Date(Math.floor(newest.getTime() / dayMs - defaultDays + 1) * dayMs);
  const growth = await growthOf(reader.select({ ...options, ...(from && { from }) }));
  const { days, clusters, total } = growth;
  const { location } = reader.archive;
  if (days.length === 0) throw await noRuns(reader, 'Counting');
  await print(terminal.err, asRecorded);
  if (options.json === true) return printJson(terminal.out, { archive: location, total, days, clusters });
  if (by === 'day') await printTable(terminal, dayColumns, days);
  else await printTable(terminal, clusterColumns(bytesOf(total)), clusters.slice(0, limit));
  await print(terminal.out, `${summary(growth, limit)}\n`);
}

const dayColumns: readonly Column<Held & { readonly day: string }>[] = [
  { head: 'Day', cell: ({ day }) => day },
  { head: 'Runs', cell: ({ runs }) => `${runs}`, align: 'right', leftOut: 3 },
  { head: 'Objects', cell: ({ objects }) => objects.toLocaleString('en-US'), align: 'right', leftOut: 4 },
  ...resourceNames.map((name, at) => bytesColumn(name, at === 0 ? undefined : 2)),
  { head: 'Run records', cell: ({ runRecords }) => formatBytes(runRecords), align: 'right', leftOut: 1 },
  { head: 'Together', cell: (day) => formatBytes(bytesOf(day)), align: 'right' },
];

/** Bytes of one resource. */
function bytesColumn(resource: Resource, leftOut: number | undefined) {
  const { headings: head, folder } = resources[resource];
  const cell = (held: Pick<Held, typeof folder>) => formatBytes(held[folder]);
  return { head, cell, align: 'right', ...(leftOut !== undefined && { leftOut }) } as const;
}

/** @param total bytes of everything */
function clusterColumns(total: number): readonly Column<Growth['clusters'][number]>[] {
  return [
    { head: 'Largest clusters', cell: ({ cluster }) => cluster, wraps: true },
    { head: 'Objects', cell: ({ objects }) => objects.toLocaleString('en-US'), align: 'right', leftOut: 3 },
    ...resourceNames.map((name, at) => bytesColumn(name, at === 0 ? 1 : 2)),
    { head: 'Together', cell: (cluster) => formatBytes(bytesOf(cluster)), align: 'right' },
    { head: 'Share', cell: (cluster) => share(bytesOf(cluster), total), align: 'right' },
  ];
}

/** How the bytes are shared, and what that comes to in a year. */
function summary({ days, clusters, total }: Growth, shown: number): string {
  const bytes = bytesOf(total);
  const kinds = [
    ...resourceNames.map((name) => `${resources[name].folder} ${share(total[resources[name].folder], bytes)}`),
    `run records ${share(total.runRecords, bytes)}`,
  ];
  const largest = clusters.slice(0, shown).reduce((sum, cluster) => sum + bytesOf(cluster), 0);
  const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
  const spanOf = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  // The first day and the last are mostly no whole ones. A day between them without runs counts too.
  const whole = days.slice(1, -1);
  const aDay = whole.reduce((sum, day) => sum + bytesOf(day), 0) / (spanOf(first, last) - 2);
  const growth =
    whole.length === 0
      ? 'How much a year makes can be said after a whole day between two others.'
      : `${formatBytes(Math.round(aDay))} a whole day, which is ${formatBytes(Math.round(365 * aDay))} a year.`;
  return (
    `${formatBytes(bytes)} of ${formatCount(total.runs, 'run')} in ${formatCount(spanOf(first, last), 'day')}, ${first} to ${last}: ${kinds.join(', ')}.\n` +
    `The ${formatCount(Math.min(shown, clusters.length), 'largest cluster')} of ${clusters.length} have ${share(largest, bytes)}.\n` +
    growth
  );
}

function share(bytes: number, total: number): string {
  return `${(total === 0 ? 0 : (100 * bytes) / total).toFixed(1)} %`;
}

type Growth = Awaited<ReturnType<typeof growthOf>>;

/**
 * How an archive grows, by day of the runs, and by cluster, the largest first, to which no part of a run record is counted.
 * Configurations and seals, which are few, are left out.
 */
async function growthOf(rows: AsyncIterable<RunRow>) {
  const total: Held = { ...nothing };
  const ofDays = new Map<string, Held>();
  const ofClusters = new Map<string, Held>();
  for await (const row of rows) {
    if (isAbsent(row)) continue;
    const ofDay = heldIn(ofDays, dateOf(row.run));
    for (const held of [total, ofDay]) {
      held.runs += 1;
      held.runRecords += row.recordBytes;
    }
    for (const outcome of row.outcomes) {
      if (!isStored(outcome)) continue;
      const { cluster, resource, storedBytes = 0 } = outcome;
      for (const held of [total, ofDay, heldIn(ofClusters, cluster)]) {
        held.objects += 1;
        held[resources[resource].folder] += storedBytes;
      }
    }
  }
  const days = [...ofDays].map(([day, held]) => ({ day, ...held }));
  const clusters = [...ofClusters]
    .map(([cluster, { runs, runRecords, ...held }]) => ({ cluster, ...held }))
    .sort((a, b) => bytesOf(b) - bytesOf(a) || (a.cluster < b.cluster ? -1 : 1));
  return { total, days, clusters };
}

/** All bytes of it. */
function bytesOf(held: Partial<Held>): number {
  return folders.reduce((sum, folder) => sum + (held[folder] ?? 0), held.runRecords ?? 0);
}

function heldIn(all: Map<string, Held>, name: string): Held {
  const held = all.get(name) ?? { ...nothing };
  all.set(name, held);
  return held;
}
