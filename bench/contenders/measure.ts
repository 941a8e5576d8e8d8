import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Assignment } from '../assignment';
import { reportFigures } from './report-figures';

/** Carries out the assignment and reports what it cost. Code that has to be loaded is loaded before. */
export async function measure(work: (assignment: Assignment) => Promise<unknown>): Promise<void> {
  const assignment = readAssignment();
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  await work(assignment);
  const { user, system } = process.cpuUsage(cpu);
  const wallMs = performance.now() - startedMs;
  reportFigures({ wallMs, cpuMs: (user + system) / 1000, peakBytes: peakBytes() });
}

export function readAssignment(): Assignment {
  return JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
}

/** Linux tells the peak of this program; what getrusage tells includes the process that started it. */
function peakBytes(): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return process.resourceUsage().maxRSS * 1024;
}
