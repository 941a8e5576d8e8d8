import { startCommand } from '../../cli/start/start-command';
import { keptTerminal, type Surroundings } from './run-collector';

/** Runs `npm start` in this process and keeps what it writes. */
export async function runStart(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  surroundings: Surroundings = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const terminal = keptTerminal({ now: new Date(), ...surroundings });
  const code = await startCommand(args, { terminal, environment, interrupted: new AbortController().signal });
  return { code, out: terminal.out.text, err: terminal.err.text };
}
