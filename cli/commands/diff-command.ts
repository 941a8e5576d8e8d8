import { Command, Option } from 'commander';
import type { Resource } from '../../lambda/resources';
import { openArchive } from '../archive/open-archive';
import type { CommandContext } from '../terminal/terminal';
import {
  type ArchiveOption,
  checkPeriod,
  type JsonOption,
  type PeriodOptions,
  resourceOption,
  timeOption,
  withArchive,
  withJson,
} from './archive-options';
import { diffCluster } from './diff-cluster';
import { diffRuns } from './diff-runs';

export interface DiffOptions extends ArchiveOption, JsonOption, PeriodOptions {
  readonly resource: Resource;
  readonly all?: boolean;
}

/** `diff`: what changed of one cluster, or which clusters changed between two runs. */
export function diffCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('diff')
    .description('Shows what changed between two times as a unified diff; without times, between the two newest.')
    .argument('[cluster]', "the cluster's uid")
    .addOption(resourceOption('what to compare', 'manifest'))
    .addOption(
      timeOption('--from <time>', 'the newest fetched at or before this time (default: the one before)', 'end'),
    )
    .addOption(timeOption('--to <time>', 'the newest fetched at or before this time (default: the newest)', 'end'))
    .addOption(new Option('--all', 'which clusters changed between the two runs at or before these times'))
    .addHelpText('after', helpText);
  withJson(withArchive(command));
  return command.action(async (cluster: string | undefined, options: DiffOptions) => {
    checkPeriod(command, options);
    if ((cluster === undefined) === (options.all !== true))
      command.error(
        cluster === undefined
          ? "error: nothing to compare; expected a cluster's uid, or --all"
          : `error: both a cluster (${cluster}) and --all; expected one of them`,
      );
    const reader = await openArchive(options.archive);
    const { resource } = options;
    end(
      cluster === undefined
        ? await diffRuns(terminal, reader, resource, options)
        : await diffCluster(terminal, reader, cluster, resource, options),
    );
  });
}

const helpText = `
With --json: one object; its members are in docs/reading-the-archive.md.
Exit codes: 0 no difference, 1 a difference, 2 wrong command line, 3 it could not be compared.

Examples:
  npm run collector -- diff my-cluster
  npm run collector -- diff my-cluster --resource log --from 2026-11-19 --to 2026-11-20
  npm run collector -- diff --all --from 2026-11-19T03:00 --to 2026-11-20T03:00
`.trimEnd();
