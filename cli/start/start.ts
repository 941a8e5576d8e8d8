import { constants } from 'node:os';
import { Writable } from 'node:stream';
import { exitCodes, processTerminal, writeProblem } from '../terminal/terminal';
import { startCommand } from './start-command';

let isFull = false;
// The run goes on, and later output is dropped.
for (const [name, stream] of Object.entries({ output: process.stdout, error: process.stderr }))
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe.
    if (error.code === 'EPIPE' || isFull) return;
    isFull = true;
    process.exitCode = exitCodes.trouble;
    process.stderr.write(`error: Writing to standard ${name} failed: ${writeProblem(error)}\n`);
  });
// A stream that has failed never says that it can go on.
const out = new Writable({ write: (chunk, _encoding, done) => process.stdout.write(chunk, () => done()) });

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    interruption.abort(new Error(`interrupted by ${signal}`));
    // The shells' convention; what is under way is taken down first.
    process.exitCode = 128 + constants.signals[signal];
  });

void startCommand(process.argv.slice(2), {
  terminal: { ...processTerminal(), out },
  environment: process.env,
  interrupted: interruption.signal,
}).then((code) => {
  process.exitCode ??= code;
  // Everything is taken down. Ctrl-C reaches esbuild too, by which tsx loads files: it would keep the process alive.
  if (interruption.signal.aborted) process.exit();
});
