import { resolve } from 'node:path';
import { measure } from './measure';

/** Our contender: the function's own bundle, called through its handler with all that an invocation does. */
const bundle = resolve(process.argv[3] ?? '', 'index.js');
const { handler } = require(bundle) as { handler: (event: unknown, context: unknown) => Promise<unknown> };

const context = { awsRequestId: 'bench', functionVersion: '$LATEST', getRemainingTimeInMillis: () => 900_000 };

void measure(async ({ runs }) => {
  for (let run = 0; run < runs; run += 1) await handler({}, context);
});
