import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Assignment } from './assignment';

const paths = { log: 'features/logFetcher', manifest: 'assets/manifest' } as const;

/** Copies what the service sends, byte for byte: nothing is checked, hashed or compressed. */
export function rcloneArguments(assignment: Assignment, folder: string): string[] {
  const list = join(folder, 'files.txt');
  const files = assignment.clusters.flatMap((cluster) =>
    assignment.resources.map((resource) => `v1/platformclusters/${cluster}/${paths[resource]}`),
  );
  writeFileSync(list, files.join('\n'));
  return [
    'copy',
    ...['--config', '', '--files-from-raw', list, '--no-traverse', '--no-check-dest', '--retries', '1'],
    ...['--transfers', '256', '--checkers', '256', '--ca-cert', assignment.caFile],
    ...['--http-url', assignment.serviceUrl, '--http-headers', `ApiKey,${assignment.apiKey}`],
    ...['--s3-provider', 'Other', '--s3-env-auth', '--s3-endpoint', assignment.awsUrl, '--s3-region', 'eu-central-1'],
    ...['--s3-no-check-bucket', '--s3-no-head', '--s3-force-path-style'],
    ':http:',
    `:s3:${assignment.bucket}`,
  ];
}
