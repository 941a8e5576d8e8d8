import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Job } from '../workload';

/** What one contender process measured. It is JSON on file descriptor 3. */
export interface Figures {
  /** From the first request to the last response. The time to load the code is not included. */
  readonly wallMs: number;
  /** Processor time of the whole process in that time; undefined where the operating system does not report it. */
  readonly cpuMs?: number;
  /** Largest resident set since the process started, in bytes; undefined where the operating system does not report it. */
  readonly peakBytes?: number;
}

/** A contender in Node: a program of its own, or the function's bundle, which is called through its handler. */
interface Program {
  readonly work?: (job: Job) => Promise<unknown>;
  readonly handler?: (event: unknown, context: unknown) => Promise<unknown>;
}

const context = { awsRequestId: 'bench', functionVersion: '$LATEST', getRemainingTimeInMillis: () => 900_000 };

/** Does the job, reports what it cost, and ends the process: waiting for idle connections is not part of the work. */
async function measure(jobFile: string, programFile: string): Promise<void> {
  const program = require(resolve(programFile)) as Program;
  const job: Job = JSON.parse(readFileSync(jobFile, 'utf8'));
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  await (program.work?.(job) ?? program.handler?.({}, context));
  const { user, system } = process.cpuUsage(cpu);
  const wallMs = performance.now() - startedMs;
  writeFileSync(3, JSON.stringify({ wallMs, cpuMs: (user + system) / 1000, peakBytes: peakBytes() }));
  process.exit();
}

/** Of this program alone: the peak of getrusage includes the process that started it. Undefined outside Linux. */
function peakBytes(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

const [jobFile = '', programFile = ''] = process.argv.slice(2);
void measure(jobFile, programFile);
