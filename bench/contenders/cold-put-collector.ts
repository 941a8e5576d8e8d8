import { copyFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { coldStart } from './cold-start';

/** All of the function's code, and one PUT through its archive adapter. */
const place = resolve(process.argv[3] ?? '');
const code = join(place, 'collector-archive.js');
copyFileSync(join(dirname(process.argv[1] ?? ''), 'collector-archive.js'), code);

void coldStart(
  () => require(code) as { putOnce: () => Promise<unknown> },
  ({ putOnce }) => putOnce(),
);
