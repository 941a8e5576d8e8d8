import { join } from 'node:path';

/** The random cases of the fast tests, ten times as many and with other seeds. fast-check prints the seed on failure. */
process.env.TEST_ROUNDS = 'many';

describe.each([
  'cli/archive/cluster-names',
  'cli/search/line-search',
  'lambda/audit/audit',
  'lambda/audit/cluster-list',
  'lambda/body/body-tables',
  'lambda/body/json/json-chunk',
  'lambda/body/json/json-scanner',
  'lambda/body/log-record',
  'lambda/body/manifest',
  'lambda/run/cluster-list',
  'lambda/run/run-record-lines',
  'lambda/schedule/cron-gap',
  'lambda/schedule/firings',
])('%s', (file) => {
  require(join(__dirname, `${file}.test.ts`));
});
