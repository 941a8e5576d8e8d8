import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '../lambda/resources';
import { type Collection, collectionFile } from '../lambda/stack-contract';
import type { Built } from './build';
import type { Contender } from './contenders';
import type { Job } from './job';
import type { Machine } from './machine';

export interface CommandOptions {
  readonly machine: Machine;
  readonly built: Built;
  /** Gets the files of one run. */
  readonly folder: string;
  /** Folder for a processor profile, if the contender runs in Node; left out: no profile. */
  readonly profile?: string | undefined;
}

/**
 * The same young generation for every contender in Node: three spaces of at most 8 MB, as V8 sizes them on a machine of
 * 2 GB. On a large machine V8 takes eight times as much, and the peak would show uncollected garbage rather than what a
 * contender needs.
 */
const youngGeneration = '--max-semi-space-size=8';

/** The command that starts a contender. Writes the files that the command needs. */
export function contenderCommand(
  { program, needsFunction }: Contender,
  job: Job,
  { machine, built, folder, profile }: CommandOptions,
): [command: string, args: string[]] {
  if (program === 'rclone') return [machine.rclone ?? 'rclone', rcloneArguments(job, folder)];
  const file = join(folder, 'job.json');
  writeFileSync(file, JSON.stringify(job));
  if (program.endsWith('.py')) return [machine.python ?? 'python3', [join(__dirname, 'contenders', program), file]];
  const script = join(built.programs, program.replace(/\.ts$/, '.js'));
  const args = needsFunction ? [placeFunction(built.function, job, folder)] : [];
  const profiling = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile];
  return [machine.node, [youngGeneration, ...profiling, script, file, ...args]];
}

/** Copies the function's code and writes the job's collection file beside it, as a deployment would. */
function placeFunction(code: string, job: Job, folder: string): string {
  const place = join(folder, 'function');
  mkdirSync(place, { recursive: true });
  for (const file of ['index.js', 'index.js.map']) copyFileSync(join(code, file), join(place, file));
  const collection: Collection = {
    service: { baseUrl: job.serviceUrl, collection: 'platformclusters' },
    clusters: job.clusters.map((uid) => ({ uid, resources: job.resources })),
    limits: { concurrency: job.concurrency, maxBodyMiB: 2048, responseTimeoutSeconds: 60 },
    compression: job.compression,
    schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
  };
  writeFileSync(join(place, collectionFile), JSON.stringify(collection));
  return place;
}

/** rclone copies what the service sends, byte for byte: nothing is checked, hashed or compressed. */
function rcloneArguments(job: Job, folder: string): string[] {
  const list = join(folder, 'files.txt');
  const files = job.clusters.flatMap((cluster) =>
    job.resources.map((resource) => `v1/platformclusters/${cluster}/${resources[resource].path}`),
  );
  writeFileSync(list, files.join('\n'));
  return [
    'copy',
    ...['--config', '', '--files-from-raw', list, '--no-traverse', '--no-check-dest', '--retries', '1'],
    ...['--transfers', '256', '--checkers', '256', '--ca-cert', job.caFile],
    ...['--http-url', job.serviceUrl, '--http-headers', `ApiKey,${job.apiKey}`],
    ...['--s3-provider', 'Other', '--s3-env-auth', '--s3-endpoint', job.awsUrl, '--s3-region', 'eu-central-1'],
    ...['--s3-no-check-bucket', '--s3-no-head', '--s3-force-path-style'],
    ':http:',
    `:s3:${job.bucket}`,
  ];
}

/** Environment variables that point a contender to the servers and make it trust their certificates. */
export function contenderEnvironment(job: Job, { program, needsFunction }: Contender): NodeJS.ProcessEnv {
  return {
    AWS_ENDPOINT_URL: job.awsUrl,
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_EC2_METADATA_DISABLED: 'true',
    // rclone gets the authority as an argument, and fails if it is here too.
    AWS_CA_BUNDLE: program.endsWith('.py') ? job.caFile : undefined,
    NODE_EXTRA_CA_CERTS: job.caFile,
    // The stack sets this for the function.
    NODE_OPTIONS: needsFunction ? '--enable-source-maps' : '',
    ARCHIVE_BUCKET: job.bucket,
    API_KEY_SECRET: job.secret,
    POWERTOOLS_SERVICE_NAME: 'bench',
  };
}
