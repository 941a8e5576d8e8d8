import { Writable } from 'node:stream';
import { createColors } from 'picocolors';
import { startCommand } from '../../cli/start/start-command';

export interface StartResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `npm start` in this process, its output into a pipe. */
export async function runStart(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<StartResult> {
  const out = new KeptText();
  const err = new KeptText();
  const code = await startCommand(args, {
    terminal: {
      out,
      err,
      columns: undefined,
      colors: createColors(false),
      errColors: createColors(false),
      isTerminal: false,
      isWatched: false,
      now: () => new Date(),
    },
    environment,
    interrupted: new AbortController().signal,
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
