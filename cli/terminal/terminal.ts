import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { createColors, isColorSupported } from 'picocolors';
import { escapedJson } from './printable';

type Colors = ReturnType<typeof createColors>;

/** Where a command writes to. */
export interface Terminal {
  /** Results only, so that they can be piped on. */
  readonly out: Writable;
  /** Everything else: progress, notes, errors. */
  readonly err: Writable;
  /** Most characters in a line of a table; undefined: no limit. */
  readonly columns: number | undefined;
  /** Whether `out` is a terminal, which obeys control characters. */
  readonly isTerminal: boolean;
  /** Colour `out` and `err` if they are terminals that show colours. */
  readonly colors: Colors;
  readonly errColors: Colors;
  /** Whether `err` is a terminal, so that somebody sees progress. */
  readonly isWatched: boolean;
  readonly now: () => Date;
}

/** The terminal this process was started in. The environment variable COLUMNS sets the width, also of a pipe. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  const columns = /^[1-9]\d{0,5}$/.test(process.env.COLUMNS ?? '') ? Number(process.env.COLUMNS) : undefined;
  return {
    out: stdout,
    err: stderr,
    columns: columns ?? (stdout.isTTY ? stdout.columns : undefined),
    isTerminal: stdout.isTTY === true,
    // With `undefined`, which is what a pipe has here, picocolors decides itself: colours, where CI or FORCE_COLOR is set.
    colors: createColors(stdout.isTTY === true && isColorSupported),
    errColors: createColors(stderr.isTTY === true && isColorSupported),
    isWatched: stderr.isTTY === true,
    now: () => new Date(),
  };
}

/**
 * Ends the process with the exit code of what nobody in it can wait for: Ctrl-C, and a standard output that takes no more.
 * Call it once, before a command begins.
 */
export function endWithProcess(): void {
  process.once('SIGINT', endInterrupted);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe before everything is written.
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    process.stderr.write(`error: Writing to standard output failed: ${writeProblem(error)}\n`);
    process.exit(exitCodes.trouble);
  });
}

/** Why something could not be written. */
export function writeProblem({ code, message }: NodeJS.ErrnoException): string {
  return code === 'ENOSPC' ? 'the disk is full (ENOSPC); make room' : message;
}

function endInterrupted(): void {
  process.exit(exitCodes.interrupted);
}

/** Writes, and waits while the reader is slower. */
export async function print(out: Writable, text: string | Buffer): Promise<void> {
  if (!out.write(text)) await once(out, 'drain');
}

export async function printJson(out: Writable, document: unknown): Promise<void> {
  await print(out, `${escapedJson(document)}\n`);
}

/** Writes a JSON array, an element per line, while the elements come. */
export async function printJsonArray(
  out: Writable,
  elements: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<void> {
  let separator = '[\n';
  for await (const element of elements) {
    await print(out, `${separator}${escapedJson(element)}`);
    separator = ',\n';
  }
  await print(out, separator === '[\n' ? '[]\n' : '\n]\n');
}

/** What the exit code of a command means; `docs/reading-the-archive.md` documents them per command. */
export const exitCodes = {
  /** Done, and nothing was found; `grep`: a line matches. */
  ok: 0,
  /**
   * `diff` found a difference, `run` has not archived everything, `doctor` found something wrong or could not see it,
   * `list --stale` found a cluster, any other command found damage or what its help names.
   */
  found: 1,
  noMatch: 1,
  usage: 2,
  /** It could not be done: the archive cannot be read, or what was asked for is not in it. */
  trouble: 3,
  /** Interrupted by Ctrl-C; the number that shells use. */
  interrupted: 130,
} as const;

/** How a command ended. */
export type Ending = keyof typeof exitCodes;

export interface CommandContext {
  readonly terminal: Terminal;
  /** Receives how the command ended; left out: `ok`. Of several, `found` counts, and otherwise the last. */
  readonly end: (ending: Ending) => void;
  readonly surroundings: Surroundings;
}

/** Environment variable with the real service's API key. An option would stay in the shell's history. */
export const apiKeyVariable = 'COLLECTOR_API_KEY';

/** What commands that do more than read an archive use of the process. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From the call on, Ctrl-C aborts the signal instead of ending the process at once. */
  readonly interruption: () => AbortSignal;
  /** Waits so many milliseconds. Rejects when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export function processSurroundings(): Surroundings {
  return {
    environment: process.env,
    interruption: () => {
      const controller = new AbortController();
      process.off('SIGINT', endInterrupted);
      process.once('SIGINT', () => {
        // A second Ctrl-C waits for nothing.
        process.once('SIGINT', endInterrupted);
        controller.abort(new Error('interrupted by SIGINT'));
      });
      return controller.signal;
    },
    wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }),
  };
}

/** A person, or a disk that is full, has ended the command before its time. The message says what stays, or goes on without it. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}
