import { main } from './main';
import { processTerminal } from './terminal/terminal';

// The SDK's switch for the warning that it writes on Node 20: the versions that the lock file names go on working there.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

// A reader such as `head` may close the pipe before everything is written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

void main(process.argv.slice(2), processTerminal()).then((code) => {
  process.exitCode = code;
});
