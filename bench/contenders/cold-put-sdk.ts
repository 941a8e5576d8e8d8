import { dirname, join } from 'node:path';
import { coldStart } from './cold-start';

/** A bundle of the two SDK clients and nothing else, and one PUT. */
const code = join(dirname(process.argv[1] ?? ''), 'sdk-put.js');

void coldStart(
  () => require(code) as { putOnce: () => Promise<unknown> },
  ({ putOnce }) => putOnce(),
);
