import { join } from 'node:path';

/** The random cases of the fast tests, ten times as many and with other seeds. fast-check prints the seed on failure. */
process.env.TEST_ROUNDS = 'many';

describe.each([
  'cli/archive/cluster-names',
  'cli/commands/recorded-content',
  'cli/search/line-search',
  'lambda/audit/audit',
  'lambda/audit/cluster-list',
  'lambda/collect/body/body-tables',
  'archive/read/log/random-logs',
  'archive/format/json/json-chunk',
  'archive/format/json/json-scanner',
  'lambda/collect/body/log-record',
  'lambda/collect/body/manifest',
  'lambda/collect/run/cluster-list',
  'archive/format/list-in-force-laws',
  'archive/format/plain-outcome',
  'archive/format/run-record-lines',
  'archive/format/schedule/cron-gap',
  'archive/format/schedule/firings',
])('%s', (file) => {
  require(join(__dirname, `${file}.test.ts`));
});
