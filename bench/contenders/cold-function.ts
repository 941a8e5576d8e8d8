import { resolve } from 'node:path';
import { coldStart } from './cold-start';
import { firstPut } from './first-put';

/** The function's own bundle, and a whole first invocation up to its first object: secret, run records, service, archive. */
const context = { awsRequestId: 'bench', functionVersion: '$LATEST', getRemainingTimeInMillis: () => 900_000 };
const bundle = resolve(process.argv[3] ?? '', 'index.js');

void coldStart(
  () => require(bundle) as { handler: (event: unknown, context: unknown) => Promise<unknown> },
  ({ handler }) => Promise.race([firstPut(), handler({}, context)]),
);
