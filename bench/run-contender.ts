import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type CommandOptions, type Contender, contenderCommand, contenderEnvironment, contenders } from './contenders';
import type { Figures, Job } from './contenders/measure';
import { pinTo } from './machine';
import type { Entry } from './scenarios';
import type { Servers, SinkStats } from './servers/start-servers';

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
  const { servers, machine, built, folder, verify } = options;
  const { resources, concurrency } = workload;
  const contender: Contender = contenders[name];
  const clusters = Array.from({ length: workload.clusters }, (_, index) => `cluster-${String(index).padStart(6, '0')}`);
  const job: Job = {
    ...{ serviceUrl: servers.serviceUrl, awsUrl: servers.awsUrl, caFile: built.tls.cert },
    ...{ bucket: 'bench-archive', apiKey, clusters, resources, concurrency },
  };
  await servers.reset({ ...workload, clusters, apiKey, verify });
  const startedMs = performance.now();
  const [command, args] = pinTo(machine, 'client', contenderCommand(contender, job, options));
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...contenderEnvironment(job, contender), TMPDIR: folder },
    timeout: longestRunMs,
  });
  const [errors, line, [code, signal]] = await Promise.all([
    text(child.stderr as Readable),
    text(child.stdio[3] as Readable),
    once(child, 'close'),
  ]);
  const stats = await servers.stats();
  if (code !== 0) return { failed: `ended with ${signal ?? code}: ${errorLine(errors)}` };
  // rclone does not measure itself, and does not what would be counted. Its wall time is that of the whole process.
  const isRclone = contender.program === 'rclone';
  const failed = isRclone ? undefined : unfinishedWork(stats, clusters.length * resources.length);
  if (failed !== undefined) return { failed };
  const figures: Figures = isRclone ? { wallMs: performance.now() - startedMs } : JSON.parse(line);
  const { wireBytes, storedBytes, serverCpuMs } = stats;
  return { ...figures, wireBytes, storedBytes, serverLoad: serverCpuMs / figures.wallMs };
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
