import { main } from './main';
import { processTerminal } from './terminal/terminal';

// A reader such as `head` may close the pipe before everything is written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

void main(process.argv.slice(2), processTerminal()).then((code) => {
  process.exitCode = code;
});
