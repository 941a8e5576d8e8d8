import { constants } from 'node:os';
import { startCommand } from './start-command';
import { processTerminal } from './terminal';

// A reader such as `head` that has seen enough is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    interruption.abort(new Error(`interrupted by ${signal}`));
    // The shells' convention; what is under way is taken down first.
    process.exitCode = 128 + constants.signals[signal];
  });

startCommand(process.argv.slice(2), {
  terminal: processTerminal(),
  environment: process.env,
  interrupted: interruption.signal,
}).then(
  (code) => {
    process.exitCode ??= code;
  },
  (error) => {
    if (!interruption.signal.aborted) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
  },
);
