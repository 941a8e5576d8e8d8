import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type CommandOptions, contenderCommand, contenderEnvironment } from './contender-command';
import { type Contender, contenders } from './contenders';
import type { Figures, Job } from './job';
import { pinTo } from './machine';
import type { Entry, Workload } from './scenarios';
import type { SinkStats } from './servers/object-sink';
import type { Servers } from './start-servers';

/** The result of one run of one contender. */
export interface RunResult extends Partial<Figures> {
  /** Why there are no figures. */
  readonly failed?: string;
  /** Bytes of bodies that the service sent. */
  readonly wireBytes?: number;
  /** Bytes that the archive server received. */
  readonly storedBytes?: number;
  /** Processor time of both servers divided by the wall time. Near 1, the servers are what is measured. */
  readonly serverLoad?: number;
}

export interface RunOptions extends CommandOptions {
  readonly servers: Servers;
  /** Whether the archive server computes the checksums of what it receives. */
  readonly verify: boolean;
}

const apiKey = 'bench-key-0123456789';
const longestRunMs = 10 * 60 * 1000;

/** Runs a contender once, in a process of its own. */
export async function runContender({ workload, contender: name }: Entry, options: RunOptions): Promise<RunResult> {
  const { servers, machine, folder, verify } = options;
  const contender: Contender = contenders[name];
  const { serviceLatencyMs, sinkLatencyMs, logBytes, manifestBytes, resources, runs = 1 } = workload;
  const { serviceCompresses: compresses = false } = workload;
  const job = createJob(workload, contender, servers);
  const { clusters } = job;
  await servers.reset({
    service: { latencyMs: serviceLatencyMs, logBytes, manifestBytes, compresses, clusters },
    sink: { latencyMs: sinkLatencyMs, apiKey, verify },
  });
  const [command, args] = pinTo(machine, 'client', ...contenderCommand(contender, job, options));
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...contenderEnvironment(job, contender), TMPDIR: folder },
    timeout: longestRunMs,
  });
  const reading = contender.program === 'rclone' ? watchProcess(child) : readFigures(child);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(0, 4000);
  });
  const [code, signal] = await once(child, 'close');
  const figures = await reading;
  const { service, sink, cpuMs } = await servers.stats();
  if (code !== 0 || figures === undefined) return { failed: `ended with ${signal ?? code}: ${errorLine(errors)}` };
  const failed = contender.isChecked ? unfinishedWork(sink, runs * clusters.length * resources.length) : undefined;
  if (failed !== undefined) return { failed };
  return { ...figures, wireBytes: service.sentBytes, storedBytes: sink.bytes, serverLoad: cpuMs / figures.wallMs };
}

function createJob(workload: Workload, { compression, level }: Contender, servers: Servers): Job {
  const { concurrency, resources, runs = 1 } = workload;
  return {
    ...{ serviceUrl: servers.serviceUrl, awsUrl: servers.awsUrl, caFile: servers.caFile },
    ...{ bucket: 'bench-archive', secret: 'bench-key', apiKey },
    ...{ concurrency, resources, runs, compression, level },
    clusters: Array.from({ length: workload.clusters }, (_, index) => `cluster-${String(index).padStart(6, '0')}`),
  };
}

/** The line of a stack trace, or of a log, that names the error. */
function errorLine(errors: string): string {
  return /^.*Error.*$/m.exec(errors)?.[0] ?? errors.slice(0, 300);
}

/**
 * What a contender did not do, as the archive server counted it; undefined if it did everything. A contender that skips
 * a step is not measured.
 * @param expected number of objects
 */
export function unfinishedWork(
  { objects, conditional, checksummed, wrong }: SinkStats,
  expected: number,
): string | undefined {
  if (objects === expected && conditional === expected && checksummed === expected && wrong === 0) return undefined;
  return `stored ${objects} of ${expected} objects, ${conditional} conditional, ${checksummed} with a checksum, ${wrong} with a wrong one`;
}

/** The figures that a contender writes on file descriptor 3; undefined if it ended without any. */
async function readFigures(child: ChildProcess): Promise<Figures | undefined> {
  const line = await text(child.stdio[3] as Readable);
  return line === '' ? undefined : JSON.parse(line);
}

const watchEveryMs = 20;

/** The figures of a program that does not measure itself, for its whole process. Outside Linux they are the wall time alone. */
async function watchProcess(child: ChildProcess): Promise<Figures> {
  const startedMs = performance.now();
  let usage: Omit<Figures, 'wallMs'> = {};
  const timer = setInterval(() => {
    usage = readUsage(child.pid ?? 0) ?? usage;
  }, watchEveryMs);
  await once(child, 'exit');
  clearInterval(timer);
  return { wallMs: performance.now() - startedMs, ...usage };
}

function readUsage(pid: number): Omit<Figures, 'wallMs'> | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    if (kilobytes === undefined) return undefined;
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    // User and system time, in ticks of a hundredth of a second.
    return { cpuMs: 10 * (Number(fields[11]) + Number(fields[12])), peakBytes: Number(kilobytes) * 1024 };
  } catch (error) {
    // The process has ended, or this is not Linux.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
