import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { FolderArchiveReader } from '../../archive/read';
import type { CollectorConfig } from '../../infra/config/config';
import { mostClusters, mostShards } from '../../infra/limits';
import { readList } from '../../lambda/collect/run/read-list';
import { type FaultName, faultNames } from '../../local/demo-service/demo-faults';
import { defaultArchive } from '../archive/open-archive';
import { findRun, NoSuchRunError } from '../archive/select-runs';
import { parseWhole, printsTo, withHelp, withRunMembers } from '../commands/options';
import type { RunMembers } from '../stack/run-in-account';
import { shellQuoted } from '../terminal/format';
import { apiKeyVariable, type Terminal } from '../terminal/terminal';

/** The address in the shipped configuration. No server has it: the demo service answers in its place. */
export const demoBaseUrl = 'https://clusters.example.com';

/** What a person types behind `npm start --`. */
export interface StartOptions extends Omit<RunMembers, 'newRun' | 'requestId'> {
  readonly config: string;
  /** File that is the list of clusters from outside, where the configuration names one. */
  readonly clusterList?: string;
  /** Folder of the archive. */
  readonly folder: string;
  /** What goes wrong with clusters of the demo service, by their uids. */
  readonly fail?: Readonly<Record<string, FaultName>>;
  readonly shards?: number;
  /** Whether the archive is audited after the run. */
  readonly audit?: boolean;
  readonly tamper?: boolean;
  /** The arguments that say all this. */
  readonly args: readonly string[];
}

/** @throws CommanderError for what cannot be read, and for --help; its text is printed */
export function parseStartOptions(args: readonly string[], terminal: Terminal): StartOptions {
  const command = new Command('npm start --')
    .description(
      'Runs the whole product once on this machine: the real stack, deployed locally, its policies enforced.',
    )
    .usage('[options]')
    .option('--config <file>', 'the configuration', 'collector.json');
  withRunMembers(command)
    .option('--cluster-list <file>', 'put this file under the S3 key that clusters.from names, before the run')
    .option('--folder <dir>', 'the folder of the archive', defaultArchive)
    .option('--fail <uid=fault>', `make a cluster of the demo service fail: ${faultNames.join(', ')}`, parseFault)
    .option(
      '--shards <n>',
      'divide the clusters into shards, which a state machine runs in parallel',
      parseWhole(1, mostShards),
    )
    .addOption(
      new Option(
        '--audit',
        'after the run, seal the archive, show the mail, and verify the archive against the seal',
      ).conflicts('dryRun'),
    )
    .addOption(
      new Option('--tamper', '--audit, then forge a copy of the archive, audit that too, and verify it').implies({
        audit: true,
      }),
    )
    .allowExcessArguments(false);
  withHelp(command, terminal, helpText);
  return { ...printsTo(terminal, command, 'npm start --').parse(args, { from: 'user' }).opts<StartOptions>(), args };
}

/** The command that completes a run with the options of its start, apart from the faults. */
export function completingCommand({ args }: StartOptions, run: Date): string {
  const kept = args.filter(
    (arg, at) => !/^--(fail|run)$/.test(args[at - 1] ?? '') && !/^--(fail|run|without-record)(=|$)/.test(arg),
  );
  return ['npm start --', ...kept.map(shellQuoted), '--run', run.toISOString()].join(' ');
}

/** The options do not fit together or to the configuration; nothing was started. */
export class StartUsageError extends Error {
  override readonly name = 'StartUsageError';
}

/** @throws StartUsageError if the archive does not have the run that is to be completed */
export async function checkRunOption({ folder, run, withoutRecord }: StartOptions): Promise<void> {
  if (run === undefined || withoutRecord === true) return;
  await findRun(new FolderArchiveReader(folder), run).catch((error: unknown) => {
    if (!(error instanceof NoSuchRunError)) throw error;
    const act = 'if it was due and left no record, add --without-record';
    throw new StartUsageError(`${error.message}; ${act}.`, { cause: error });
  });
}

/** @throws StartUsageError for a cluster that is chosen, or made to fail, and is not configured */
export function checkClusters({ clusters = [], fail = {} }: StartOptions, configured: CollectorConfig): void {
  const known = configured.clusters.map(({ uid }) => uid);
  for (const [option, uids] of Object.entries({ '--clusters': clusters, '--fail': Object.keys(fail) })) {
    const unknown = uids.filter((uid) => !known.includes(uid));
    if (unknown.length === 0) continue;
    const some = `${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}`;
    throw new StartUsageError(
      `${option} names ${unknown.join(', ')}, which is not configured; expected some of ${some}.`,
    );
  }
}

/**
 * The clusters of the file that stands for a list from outside: what a run will collect, if the list is not refused.
 * @throws StartUsageError if the configuration names no such list, or no file stands for it
 */
export function withClusterList(configured: CollectorConfig, { clusterList }: StartOptions): CollectorConfig {
  const { clusterList: source } = configured;
  if (clusterList === undefined && source === undefined) return configured;
  if (source === undefined || clusterList === undefined)
    throw new StartUsageError(
      `The list of clusters ${source?.from ?? '(none is configured as clusters.from)'} and --cluster-list belong together; expected --cluster-list FILE where clusters.from is set.`,
    );
  try {
    const read = readList(readFileSync(clusterList), mostClusters(configured));
    return { ...configured, clusters: 'clusters' in read ? read.clusters : [] };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartUsageError(`Reading the list of clusters ${clusterList} failed: ${code}.`, { cause: error });
  }
}

function parseFault(text: string, earlier: Readonly<Record<string, FaultName>> = {}): Record<string, FaultName> {
  const [, uid = '', name = ''] = /^(.+)=([^=]+)$/s.exec(text) ?? [];
  const fault = faultNames.find((known) => known === name);
  if (fault === undefined)
    throw new InvalidArgumentError(`expected <uid>=<fault> with one of ${faultNames.join(', ')}.`);
  return { ...earlier, [uid]: fault };
}

const helpText = `
Which service is read: the demo service, if the configuration names ${demoBaseUrl}; otherwise the service that it names, with
the API key from the environment variable ${apiKeyVariable}.

Every start is a run of its own: it adds to the archive and changes nothing in it. With --clusters, --dry-run or --run, or if the
schedule is disabled, the function is invoked by hand. Otherwise the schedule is fired, with Lambda's two retries; the second is left
out if the service is down. --tamper replaces a manifest and what the run records say of it in a copy of the archive, and prints the
mail of the next audit, which is of the copy.

Exit codes: 0 everything was archived, 1 something was not, or verifying found damage, 2 wrong usage or configuration,
3 a disk is full: that of the archive, which ends the run, or that behind the output. 130 interrupted.

Examples:
  npm start
  npm start -- --clusters prod-eu-1,staging-1
  npm start -- --fail prod-eu-1=cut-short --fail staging-1=html-page
  npm start -- --shards 4
  npm start -- --audit
  npm start -- --tamper
  npm start -- --config outside.json --cluster-list clusters.json
  ${apiKeyVariable}="$(cat key.txt)" npm start -- --config my.json --dry-run
`;
