import { Writable } from 'node:stream';
import { createColors } from 'picocolors';
import { main } from '../../cli/main';
import type { ExitCode } from '../../cli/terminal/terminal';

export interface CollectorResult {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export interface CollectorSurroundings {
  /** Most characters in a line; left out: no limit. */
  readonly columns?: number;
  /** Whether the output goes to a terminal; left out: into a pipe, or to a terminal if there are columns. */
  readonly isTerminal?: boolean;
  readonly now?: Date;
}

/** Runs one command line in this process and keeps what it writes. */
export async function runCollector(
  args: readonly string[],
  { columns, isTerminal = columns !== undefined, now = new Date('2026-11-20T12:00:00Z') }: CollectorSurroundings = {},
): Promise<CollectorResult> {
  const out = new KeptText();
  const err = new KeptText();
  const code = await main(args, {
    out,
    err,
    columns,
    colors: createColors(isTerminal),
    errColors: createColors(false),
    isTerminal: isTerminal,
    isWatched: false,
    now: () => now,
  });
  return { code, out: out.text, err: err.text };
}

class KeptText extends Writable {
  private readonly chunks: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }
}
