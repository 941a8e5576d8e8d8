import { readFileSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Figures, Job } from '../job';

/**
 * Does the job, reports what it cost, and ends the process: waiting for idle connections is not part of the work.
 * A contender loads its code before it calls this.
 */
export async function measure(work: (job: Job) => Promise<unknown>): Promise<void> {
  const job: Job = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  await work(job);
  const { user, system } = process.cpuUsage(cpu);
  const wallMs = performance.now() - startedMs;
  const figures: Figures = { wallMs, cpuMs: (user + system) / 1000, peakBytes: peakBytes() };
  writeFileSync(3, `${JSON.stringify(figures)}\n`);
  process.exit();
}

/** /proc has the peak of this program alone. The peak of getrusage includes the process that started it. */
function peakBytes(): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return process.resourceUsage().maxRSS * 1024;
}
