import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Configuration } from '../archive/format/configuration';
import { firstResources } from '../archive/format/resources';
import { bundle } from '../infra/function-bundle';
import { configurationFile } from '../lambda/stack-contract';
import type { Built } from './build';
import type { Figures } from './contenders/measure';
import { type Command, pinContender } from './machine';
import type { Entry } from './scenarios';
import { makeArchive } from './servers/make-archive';
import type { SinkStats } from './servers/object-sink';
import type { ServerStats, Servers } from './servers/servers';
import type { ArchiveShape, Job, Workload } from './workload';

/** The result of one run of one contender. */
export interface RunResult extends Partial<Figures>, Partial<Pick<ServerStats, 'wireBytes' | 'storedBytes'>> {
  /** Why there are no figures. */
  readonly failed?: string;
  /** Processor time of both servers divided by the wall time. Near 1, the servers are what is measured. */
  readonly serverLoad?: number;
}

export interface RunOptions {
  /** Whether servers and contenders are bound to cores. */
  readonly isPinned: boolean;
  readonly built: Built;
  readonly servers: Servers;
  /** Gets the files of each run. */
  readonly folder: string;
}

const longestRunMs = 10 * 60 * 1000;

/** Runs a contender once, in a process of its own. */
export async function runContender({ workload, program }: Entry, options: RunOptions): Promise<RunResult> {
  const { servers, isPinned, built, folder } = options;
  const clusters = Array.from({ length: workload.clusters }, (_, index) => `cluster-${String(index).padStart(6, '0')}`);
  const named = { bucket: 'bench-archive', apiKey: 'bench-key-0123456789', caFile: built.tls.cert };
  const archive = workload.reads && (await archiveIn(folder, workload.reads));
  const job: Job = {
    ...workload,
    ...servers.urls,
    ...named,
    clusters,
    ...(archive && workload.reads?.from === 'folder' && { archiveFolder: archive }),
  };
  await servers.reset(job, archive);
  const unpinned = commandOf(program, job, options);
  const [command, args] = isPinned ? pinContender(unpinned) : unpinned;
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environmentOf(program, job), TMPDIR: folder },
    timeout: longestRunMs,
  });
  const [errors, line, [code, signal]] = await Promise.all([
    text(child.stderr as Readable),
    text(child.stdio[3] as Readable),
    once(child, 'close'),
  ]);
  const stats = servers.stats();
  if (code !== 0) return { failed: `ended with ${signal ?? code}: ${errorLine(errors)}` };
  const failed =
    workload.reads === undefined
      ? unfinishedWork(stats, clusters.length * job.resources.length)
      : unreadObjects(stats, workload.reads);
  if (failed !== undefined) return { failed };
  const figures: Figures = JSON.parse(line);
  const { wireBytes, storedBytes, serverCpuMs } = stats;
  const serverLoad = serverCpuMs / figures.wallMs;
  return workload.reads === undefined ? { ...figures, wireBytes, storedBytes, serverLoad } : { ...figures, serverLoad };
}

/** The line of a stack trace, or of a log, that names the error. */
function errorLine(errors: string): string {
  return /^\S*Error\b.*$/m.exec(errors)?.[0] ?? errors.slice(0, 300);
}

/**
 * What a contender did not do, as the archive server counted it; undefined if it did everything. A contender that skips
 * a step is not measured.
 * @param expected number of objects
 */
function unfinishedWork({ objects, conditional, checksummed }: SinkStats, expected: number): string | undefined {
  if (objects === expected && conditional === expected && checksummed === expected) return undefined;
  return `stored ${objects} of ${expected} objects, ${conditional} conditional, ${checksummed} with a checksum`;
}

/** What a contender did not read; undefined if it has read everything, or the server cannot know. */
function unreadObjects({ sentObjects }: ServerStats, { clusters, runs, from }: NonNullable<Workload['reads']>) {
  const expected = clusters * runs * firstResources.length + runs;
  if (from === 'folder' || sentObjects >= expected) return undefined;
  return `read ${sentObjects} of ${expected} objects`;
}

/** An archive in a folder, made once for all rows. */
async function archiveIn(folder: string, shape: ArchiveShape): Promise<string> {
  const place = join(folder, `archive-${shape.clusters}-${shape.runs}`);
  if (!existsSync(place)) await makeArchive(place, shape);
  return place;
}

type Program = Entry['program'];

/**
 * The same young generation for every contender in Node: three spaces of at most 8 MB, as V8 sizes them on a machine of
 * 2 GB. On a large machine V8 takes eight times as much, and the peak would show uncollected garbage rather than what a
 * contender needs.
 */
const youngGeneration = '--max-semi-space-size=8';

/** The command that starts a contender. Writes the files that the command needs. */
function commandOf(program: Program, job: Job, { built, folder }: RunOptions): Command {
  const file = join(folder, 'job.json');
  writeFileSync(file, JSON.stringify(job));
  if (program.endsWith('.py')) return ['python3', [join(__dirname, 'contenders', program), file]];
  const loaded = program === 'function' ? placeFunction(job, folder) : join(built.programs, `${program}.js`);
  return [process.execPath, [youngGeneration, join(built.programs, 'measure.js'), file, loaded]];
}

/** Writes the function's own bundle and the job's configuration file beside it, as a deployment would. Returns the code's path. */
function placeFunction(job: Job, folder: string): string {
  const place = join(folder, 'function');
  mkdirSync(place, { recursive: true });
  for (const { path, contents } of bundle('collect/handler.ts')) writeFileSync(join(place, basename(path)), contents);
  const collection: Configuration = {
    service: { baseUrl: job.serviceUrl, collection: 'platformclusters' },
    clusters: job.clusters.map((uid) => ({ uid, resources: job.resources })),
    limits: { concurrency: job.concurrency, maxBodyMiB: 2048, responseTimeoutSeconds: 60 },
    schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
  };
  writeFileSync(join(place, configurationFile), JSON.stringify(collection));
  return join(place, 'index.js');
}

/** Environment variables that point a contender to the servers and make it trust their certificates. */
function environmentOf(program: Program, job: Job): NodeJS.ProcessEnv {
  return {
    AWS_ENDPOINT_URL: job.awsUrl,
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CA_BUNDLE: job.caFile,
    NODE_EXTRA_CA_CERTS: job.caFile,
    // The stack sets this for the function.
    NODE_OPTIONS: program === 'function' ? '--enable-source-maps' : '',
    ARCHIVE_BUCKET: job.bucket,
    API_KEY_SECRET: 'bench-key',
    STACK: 'bench',
    POWERTOOLS_SERVICE_NAME: 'bench',
  };
}
