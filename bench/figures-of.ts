import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import type { Figures } from './assignment';

/** What a contender writes on file descriptor 3; undefined if it ended without. */
export async function readFigures(child: ChildProcess): Promise<Figures | undefined> {
  let text = '';
  for await (const chunk of child.stdio[3] as Readable) text += String(chunk);
  return text === '' ? undefined : (JSON.parse(text) as Figures);
}

const lookEveryMs = 20;

/** The figures of a program that does not measure itself: of the whole process, as Linux tells them; elsewhere time alone. */
export async function figuresOf(child: ChildProcess): Promise<Figures> {
  const startedMs = performance.now();
  let cpuMs = 0;
  let peakBytes = 0;
  const timer = setInterval(() => {
    ({ cpuMs, peakBytes } = look(child.pid ?? 0) ?? { cpuMs, peakBytes });
  }, lookEveryMs);
  await once(child, 'exit');
  clearInterval(timer);
  return { wallMs: performance.now() - startedMs, cpuMs, peakBytes };
}

function look(pid: number): { cpuMs: number; peakBytes: number } | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    // Clock ticks of a hundredth of a second.
    return kilobytes === undefined
      ? undefined
      : { cpuMs: 10 * (Number(fields[11]) + Number(fields[12])), peakBytes: Number(kilobytes) * 1024 };
  } catch (error) {
    // The process is gone, or this is no Linux.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
