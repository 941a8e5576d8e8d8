import { logMessages } from '../lambda/stack-contract';

/** Counts what each attempt found or left in the archive, and what it covered. */
function attempts(condition: string): string[] {
  return [
    'fields toMillis(@timestamp) as at, counts.archived + counts.alreadyArchived as stored, ' +
      'coalesce(counts.optionalMissing, 0) as optionalMissing',
    'fields stored + counts.failed + counts.notAttempted + optionalMissing as covered',
    // A dry run archives nothing and has no record.
    `filter message = "${logMessages.run}" and ${condition}`,
  ];
}

/**
 * Sums up the attempts of a run. If an attempt covers only a few clusters, the sum of what was archived counts. If an
 * attempt died without its line, what the next one found archived counts.
 */
const progress = 'max(stored) as known, sum(counts.archived) as written, max(covered) as configured';

/** One row for each run of one function: what is archived after its last attempt. */
const functionRuns = {
  lines: [
    ...attempts('ispresent(record)'),
    `stats ${progress}, max(attempt) as attempts, max(at) as ended by run`,
    'fields greatest(known, written) as archived, configured - greatest(known, written) as missing',
  ],
  isComplete: 'missing = 0',
  parts: 'attempts',
};

/** The same of shards, and how many have written their records. One shard by hand counts too: it completes that shard. */
function shardRuns(shards: number): typeof functionRuns {
  return {
    lines: [
      ...attempts('ispresent(record) and ispresent(shard.index)'),
      `stats ${progress}, max(at) as last by run, shard.index`,
      'fields greatest(known, written) as inShard',
      'stats sum(inShard) as archived, sum(configured) as total, count(*) as shards, max(last) as ended by run',
      'fields total as configured, total - archived as missing',
    ],
    isComplete: `missing = 0 and shards = ${shards}`,
    parts: 'shards',
  };
}

/** The last runs, and the last of which nothing is missing. */
export function runQueries(shards: number) {
  const { lines, isComplete, parts } = shards === 1 ? functionRuns : shardRuns(shards);
  const newest = (count: number, shown: string) => [
    hoursAgo('ended'),
    'sort run desc',
    `limit ${count}`,
    `display run, archived, configured, ${shown}, hoursAgo`,
  ];
  return {
    lastRuns: [...lines, ...newest(10, `missing, ${parts}`)],
    lastGreenRuns: [...lines, `filter ${isComplete}`, ...newest(5, parts)],
  };
}

/** Failures by reason, those that are not over first. What is optional counts as no failure. */
export const failuresByReason = [
  'fields toMillis(@timestamp) as at',
  `filter message = "${logMessages.failure}" and not ispresent(optional)`,
  'stats count_distinct(cluster) as clusters, max(at) as newest by reason',
  hoursAgo('newest'),
  'sort hoursAgo asc, clusters desc',
  'limit 10',
  'display reason, clusters, hoursAgo',
];

/** Counts starts of the function, not failures: the retries that Lambda makes of a start have its request id. */
export const failuresByCluster = [
  'fields toMillis(@timestamp) as at',
  `filter message = "${logMessages.failure}"`,
  'stats count_distinct(function_request_id) as starts, max(at) as newest by cluster',
  hoursAgo('newest'),
  'sort starts desc, hoursAgo asc',
  'limit 10',
  'display cluster, starts, hoursAgo',
];

export const lastFailures = [
  'fields @timestamp, cluster, resource, httpStatus, error',
  `filter message = "${logMessages.failure}"`,
  'sort @timestamp desc',
  'limit 20',
];

/** How long ago a time in milliseconds was, in whole hours. */
function hoursAgo(time: string): string {
  return `fields floor((now() * 1000 - ${time}) / 3600000) as hoursAgo`;
}
