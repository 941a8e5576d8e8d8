import { Writable } from 'node:stream';
import { createColors } from 'picocolors';
import { main } from '../../cli/main';
import type { Surroundings as ProcessSurroundings, Terminal } from '../../cli/terminal/terminal';

export interface Surroundings {
  /** Most characters in a line; left out: no limit. */
  readonly columns?: number;
  /** Whether the output goes to a terminal; left out: into a pipe, or to a terminal if there are columns. */
  readonly isTerminal?: boolean;
  readonly now?: Date;
}

/** Runs one command line in this process and keeps what it writes. */
export async function runCollector(
  args: readonly string[],
  surroundings: Surroundings = {},
  process?: ProcessSurroundings,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const terminal = keptTerminal(surroundings);
  const code = await main(args, terminal, process);
  return { code, out: terminal.out.text, err: terminal.err.text };
}

/** A terminal that keeps what is written to it. */
export function keptTerminal({
  columns,
  isTerminal = columns !== undefined,
  now = new Date('2026-11-20T12:00:00Z'),
}: Surroundings = {}): Terminal & { readonly out: KeptText; readonly err: KeptText } {
  return {
    out: new KeptText(),
    err: new KeptText(),
    columns,
    isTerminal,
    colors: createColors(isTerminal),
    errColors: createColors(false),
    isWatched: false,
    now: () => now,
  };
}

class KeptText extends Writable {
  readonly #chunks: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}
