import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundle } from '../infra/function-bundle';
import { resources } from '../lambda/resources';
import { type Collection, collectionFile } from '../lambda/stack-contract';
import type { Built } from './build';
import type { Job } from './contenders/measure';
import type { Machine } from './machine';

/** One program that does the work. */
export interface Contender {
  /**
   * The function's own bundle, a program for Node in contenders/, one for Python there, or the command `rclone`, which
   * copies bodies as they are. The others check, hash and compress every body, and store it under a condition and with
   * a checksum.
   */
  readonly program: 'function' | 'promise-all' | 'raw-sockets' | 'boto3-threads.py' | 'rclone';
  /** One line for the help text. */
  readonly about: string;
  /** A command that succeeds where everything is installed that it needs beside Node. */
  readonly needs?: readonly [command: string, ...args: string[]];
}

export const contenders = {
  'ours, gzip': { program: 'function', about: "the function's own bundle, called through its handler" },
  'Promise.all': {
    program: 'promise-all',
    about: 'the first program one would write: all at once, fetch, JSON.parse, zlib, SDK; no limit, retry or deadline',
  },
  boto3: {
    program: 'boto3-threads.py',
    about: 'Python: 64 threads, urllib3, json, gzip, boto3',
    needs: ['python3', '-c', 'import boto3'],
  },
  'rclone, unchecked': {
    program: 'rclone',
    about: 'copies 256 files at once, byte for byte: no check, hash, compression or condition',
    needs: ['rclone', 'version'],
  },
  'raw sockets, gzip': {
    program: 'raw-sockets',
    about: 'the floor: our check, hash and compression with hand-written HTTP and signatures; no retry, no limit',
  },
} as const satisfies Record<string, Contender>;

export type ContenderName = keyof typeof contenders;

export interface CommandOptions {
  readonly machine: Machine;
  readonly built: Built;
  /** Gets the files of one run. */
  readonly folder: string;
}

/**
 * The same young generation for every contender in Node: three spaces of at most 8 MB, as V8 sizes them on a machine of
 * 2 GB. On a large machine V8 takes eight times as much, and the peak would show uncollected garbage rather than what a
 * contender needs.
 */
const youngGeneration = '--max-semi-space-size=8';

/** The command that starts a contender. Writes the files that the command needs. */
export function contenderCommand(
  { program }: Contender,
  job: Job,
  { machine, built, folder }: CommandOptions,
): readonly [command: string, args: string[]] {
  if (program === 'rclone') return [program, rcloneArguments(job, folder)];
  const file = join(folder, 'job.json');
  writeFileSync(file, JSON.stringify(job));
  if (program === 'boto3-threads.py') return ['python3', [join(__dirname, 'contenders', program), file]];
  const loaded = program === 'function' ? placeFunction(job, folder) : join(built.programs, `${program}.js`);
  return [machine.node, [youngGeneration, join(built.programs, 'measure.js'), file, loaded]];
}

/** Writes the function's own bundle and the job's collection file beside it, as a deployment would. Returns the code's path. */
function placeFunction(job: Job, folder: string): string {
  const place = join(folder, 'function');
  mkdirSync(place, { recursive: true });
  for (const { path, contents } of bundle('handler.ts')) writeFileSync(join(place, basename(path)), contents);
  const collection: Collection = {
    service: { baseUrl: job.serviceUrl, collection: 'platformclusters' },
    clusters: job.clusters.map((uid) => ({ uid, resources: job.resources })),
    limits: { concurrency: job.concurrency, maxBodyMiB: 2048, responseTimeoutSeconds: 60 },
    compression: 'gzip',
    schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
  };
  writeFileSync(join(place, collectionFile), JSON.stringify(collection));
  return join(place, 'index.js');
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
export function contenderEnvironment(job: Job, { program }: Contender): NodeJS.ProcessEnv {
  return {
    AWS_ENDPOINT_URL: job.awsUrl,
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_EC2_METADATA_DISABLED: 'true',
    // rclone gets the authority as an argument, and fails if it is here too.
    AWS_CA_BUNDLE: program === 'boto3-threads.py' ? job.caFile : undefined,
    NODE_EXTRA_CA_CERTS: job.caFile,
    // The stack sets this for the function.
    NODE_OPTIONS: program === 'function' ? '--enable-source-maps' : '',
    ARCHIVE_BUCKET: job.bucket,
    API_KEY_SECRET: 'bench-key',
    POWERTOOLS_SERVICE_NAME: 'bench',
  };
}
