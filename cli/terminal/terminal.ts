import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { createColors, isColorSupported } from 'picocolors';

type Colors = ReturnType<typeof createColors>;

/** Where a command writes to. */
export interface Terminal {
  /** Results only, so that they can be piped on. */
  readonly out: Writable;
  /** Everything else: progress, notes, errors. */
  readonly err: Writable;
  /** Width of the terminal behind `out`; undefined if there is none, and lines may be of any length. */
  readonly columns: number | undefined;
  /** Colour `out` and `err` where a terminal shows it. */
  readonly colors: Colors;
  readonly errColors: Colors;
  /** Whether somebody watches `err`. */
  readonly isWatched: boolean;
  readonly now: () => Date;
}

/** The terminal this process was started in. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  return {
    out: stdout,
    err: stderr,
    columns: stdout.isTTY ? stdout.columns : undefined,
    colors: createColors(stdout.isTTY && isColorSupported),
    errColors: createColors(stderr.isTTY && isColorSupported),
    isWatched: stderr.isTTY === true,
    now: () => new Date(),
  };
}

/** Writes, and waits where the reader is slower. */
export async function print(out: Writable, text: string | Buffer): Promise<void> {
  if (!out.write(text)) await once(out, 'drain');
}

/** One line of JSON. */
export async function printJson(out: Writable, document: unknown): Promise<void> {
  await print(out, `${JSON.stringify(document)}\n`);
}

/** A JSON array, an element per line, written as the elements come. */
export async function printJsonArray(
  out: Writable,
  elements: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<void> {
  let separator = '[\n';
  for await (const element of elements) {
    await print(out, `${separator}${JSON.stringify(element)}`);
    separator = ',\n';
  }
  await print(out, separator === '[\n' ? '[]\n' : '\n]\n');
}

/** What a command's exit code says; `docs/reading-the-archive.md` documents them per command. */
export const exitCodes = {
  /** It was done, and nothing was found. */
  ok: 0,
  /** `diff` found a difference; any other command found damage. */
  found: 1,
  /** The command line is wrong. */
  usage: 2,
  /** It could not be done: the archive cannot be read, or what was asked for is not in it. */
  trouble: 3,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What every command is built with. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Receives the exit code; not called means {@link exitCodes}.ok. */
  readonly end: (code: ExitCode) => void;
}
