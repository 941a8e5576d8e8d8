import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Collection } from '../lambda/stack-contract';
import type { Assignment } from './assignment';
import type { Built } from './build';
import type { Contender } from './contenders';
import type { Machine } from './machine';
import { rcloneArguments } from './rclone-arguments';

export interface CommandPlace {
  readonly machine: Machine;
  readonly built: Built;
  /** For the files of one run. */
  readonly folder: string;
  /** Folder that gets a processor profile of the run, if it is Node's. */
  readonly profile?: string | undefined;
}

/**
 * The same young generation for every Node contender: three spaces of at most 8 MB, what V8 itself takes on a machine of
 * 2 GB. On a large machine it takes eight times as much, as it may in Lambda, and the peaks would tell how much garbage lies
 * around uncollected rather than what a contender needs.
 */
const youngGeneration = '--max-semi-space-size=8';

/** The command that starts a contender, with the files it needs. */
export function contenderCommand(
  contender: Contender,
  assignment: Assignment,
  { machine, built, folder, profile }: CommandPlace,
): [command: string, args: string[]] {
  const { program } = contender;
  if (program === 'rclone') return [machine.rclone ?? 'rclone', rcloneArguments(assignment, folder)];
  const file = join(folder, 'assignment.json');
  writeFileSync(file, JSON.stringify(assignment));
  if (program.endsWith('.py')) return [machine.python ?? 'python3', [join(__dirname, 'contenders', program), file]];
  const script = join(built.programs, program.replace(/\.ts$/, '.js'));
  const args = contender.needsFunction ? [placeFunction(built.function, assignment, folder)] : [];
  const profiling = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile];
  return [machine.node, [youngGeneration, ...profiling, script, file, ...args]];
}

/** The function's code with a collection of its own beside it, as a deployment would put it. */
function placeFunction(code: string, assignment: Assignment, folder: string): string {
  const place = join(folder, 'function');
  mkdirSync(place, { recursive: true });
  copyFileSync(join(code, 'index.js'), join(place, 'index.js'));
  const collection: Collection = {
    service: { baseUrl: assignment.serviceUrl, collection: 'platformclusters' },
    clusters: assignment.clusters.map((uid) => ({ uid, resources: assignment.resources })),
    limits: { concurrency: assignment.concurrency, maxBodyMiB: 2048, responseTimeoutSeconds: 60 },
    compression: assignment.compression,
  };
  writeFileSync(join(place, 'collection.json'), JSON.stringify(collection));
  return place;
}

/** What tells the contenders' AWS clients where the sink is, and everyone whom to trust. */
export function contenderEnvironment(assignment: Assignment, { program }: Contender): NodeJS.ProcessEnv {
  return {
    AWS_ENDPOINT_URL: assignment.awsUrl,
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_EC2_METADATA_DISABLED: 'true',
    // rclone takes its authority as an argument, and fails with both.
    AWS_CA_BUNDLE: program.endsWith('.py') ? assignment.caFile : undefined,
    NODE_EXTRA_CA_CERTS: assignment.caFile,
    NODE_OPTIONS: '',
    ARCHIVE_BUCKET: assignment.bucket,
    API_KEY_SECRET: assignment.secret,
    POWERTOOLS_SERVICE_NAME: 'bench',
  };
}
