import { constants } from 'node:os';
import { Writable } from 'node:stream';
import { processTerminal } from '../terminal/terminal';
import { startCommand } from './start-command';

const isClosedPipe = (error: NodeJS.ErrnoException | null | undefined) => error?.code === 'EPIPE';

// A reader such as `head` may close the pipe. The run goes on, and later output is dropped.
const out = new Writable({
  write: (chunk, _encoding, done) => process.stdout.write(chunk, (error) => done(isClosedPipe(error) ? null : error)),
});
process.stdout.on('error', (error) => {
  if (!isClosedPipe(error)) throw error;
});

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    interruption.abort(new Error(`interrupted by ${signal}`));
    // The shells' convention; what is under way is taken down first.
    process.exitCode = 128 + constants.signals[signal];
  });

startCommand(process.argv.slice(2), {
  terminal: { ...processTerminal(), out },
  environment: process.env,
  interrupted: interruption.signal,
}).then(
  (code) => {
    process.exitCode ??= code;
  },
  (error) => {
    if (!interruption.signal.aborted) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
    // Everything is taken down. Ctrl-C reaches esbuild too, by which tsx loads files: it would keep the process alive.
    process.exit();
  },
);
