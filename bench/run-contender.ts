import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Assignment, Figures } from './assignment';
import { type CommandPlace, contenderCommand, contenderEnvironment } from './contender-command';
import { type Contender, contenders } from './contenders';
import { figuresOf, readFigures } from './figures-of';
import { pinned } from './pinned';
import type { Entry } from './scenario';
import type { Servers } from './start-servers';
import { undoneWork } from './undone-work';

/** What one run of one contender came to. */
export interface RunResult extends Figures {
  /** Why there are no figures. */
  readonly failed?: string;
  /** Bytes in the archive. */
  readonly storedBytes?: number;
  /** Processor time of both servers as a part of the wall time: near 1 the servers are what is measured. */
  readonly serverLoad?: number;
}

export interface Workshop extends CommandPlace {
  readonly servers: Servers;
  /** Whether the sink computes checksums. */
  readonly verify: boolean;
}

const apiKey = 'bench-key-0123456789';
const longestRunMs = 10 * 60 * 1000;

/** Lets a contender do an entry's work once, in a process of its own. */
export async function runContender(entry: Entry, workshop: Workshop): Promise<RunResult> {
  const { servers, machine, folder, verify } = workshop;
  const contender: Contender = contenders[entry.contender];
  const { serviceLatencyMs, sinkLatencyMs, logBytes, manifestBytes, clusters, resources, runs = 1 } = entry.workload;
  await servers.reset({
    service: { latencyMs: serviceLatencyMs, logBytes, manifestBytes },
    sink: { latencyMs: sinkLatencyMs, apiKey, verify },
  });
  const assignment = assignmentOf(entry, contender, servers);
  const [command, args] = pinned(machine, 'client', ...contenderCommand(contender, assignment, workshop));
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...contenderEnvironment(assignment, contender), TMPDIR: folder },
    timeout: longestRunMs,
  });
  const figures = contender.program === 'rclone' ? figuresOf(child) : readFigures(child);
  let complaint = '';
  child.stderr?.on('data', (text: Buffer) => {
    complaint = `${complaint}${text}`.slice(0, 4000);
  });
  const [code, signal] = await once(child, 'close');
  const measured = await figures;
  const { sink, cpuMs } = await servers.stats();
  if (code !== 0 || measured === undefined) return { failed: `ended with ${signal ?? code}: ${gist(complaint)}` };
  const problem = contender.work === 'checked' ? undoneWork(sink, runs * clusters * resources.length) : undefined;
  if (problem !== undefined) return { failed: problem };
  const { wallMs } = measured;
  if (wallMs === undefined) return measured;
  return { ...measured, storedBytes: sink.bytes, serverLoad: cpuMs / wallMs };
}

function assignmentOf({ workload }: Entry, contender: Contender, servers: Servers): Assignment {
  const { concurrency, resources, logBytes, runs = 1 } = workload;
  return {
    ...{ serviceUrl: servers.serviceUrl, awsUrl: servers.awsUrl, caFile: servers.caFile },
    ...{ bucket: 'bench-archive', secret: 'bench-key', apiKey },
    ...{ concurrency, resources, logBytes, runs },
    clusters: Array.from({ length: workload.clusters }, (_, index) => `cluster-${String(index).padStart(6, '0')}`),
    ...{ compression: contender.compression, level: contender.level },
  };
}

/** The line of a stack trace, or of a log, that says what happened. */
function gist(complaint: string): string {
  return /^.*Error.*$/m.exec(complaint)?.[0] ?? complaint.slice(0, 300);
}
