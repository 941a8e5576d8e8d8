import { dirname, join } from 'node:path';
import { coldStart } from './cold-start';

/** A handler that does nothing. */
const code = join(dirname(process.argv[1] ?? ''), 'empty-handler.js');

void coldStart(
  () => require(code) as { handler: () => Promise<void> },
  ({ handler }) => handler(),
);
