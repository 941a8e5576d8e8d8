import { Command, Option } from 'commander';
import { openArchive } from '../archive/open-archive';
import { type CommandContext, exitCodes } from '../terminal/terminal';
import { type CheckOptions, VouchedNotes, withCheck } from './check-option';
import { type ClusterDiffOptions, diffCluster } from './diff-cluster';
import { diffRuns } from './diff-runs';
import { type ReadOptions, resourceOption, withArchive, withHelp, withOneRun, withPeriod } from './options';

interface Options extends ReadOptions, CheckOptions, ClusterDiffOptions {
  readonly all?: boolean;
}

/** `diff`: what changed of one cluster, or which clusters changed between two runs. */
export function diffCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('diff')
    .summary('what changed between two runs')
    .description('Shows what changed between two runs as a unified diff; without times, between the two newest.')
    .argument('[cluster]', "the cluster's uid")
    .addOption(resourceOption('what to compare', 'manifest'))
    .addOption(new Option('--all', 'list the clusters that changed between the two runs').conflicts('check'));
  withPeriod(withOneRun(command, terminal, ['from', 'to']), terminal, [
    'compare from the newest run at or before this time',
    'compare to the newest run at or before this time',
  ]).option('--no-escape', 'leave control characters of the content as they are, for patch');
  withHelp(withArchive(withCheck(command)), terminal, helpText);
  return command.action(async (cluster: string | undefined, options: Options) => {
    if (cluster !== undefined && options.all === true)
      command.error(`error: both a cluster (${cluster}) and --all; expected one of them`);
    const reader = await openArchive(options.archive);
    if (options.all === true) return end(await diffRuns(terminal, reader, options));
    if (cluster === undefined) return command.error("error: nothing to compare; expected a cluster's uid, or --all");
    const notes = new VouchedNotes(reader, options);
    const code = await diffCluster(terminal, reader, cluster, options, notes);
    end((await notes.print(terminal)) ? code : exitCodes.trouble);
  });
}

const helpText = `
A cluster is compared between two runs that archived it. Standard error says which two these are, and whether they
were fetched late. --run and --at compare that run with the one before it. --from and --to compare the state when
the period began with the state when it ended. --all compares what two runs archived of every cluster; what changed in
between, and was changed back, is said by history --all.

--check: standard error says which seal vouches for both sides.

With --json: one object; its members are in docs/reading-the-archive.md.

Exit codes: 0 no difference, 1 a difference, 2 wrong command line, 3 it could not be compared, or with
--check no seal vouches for both.

Examples:
  npm run collector -- diff my-cluster
  npm run collector -- diff my-cluster --resource log --from yesterday --to yesterday
  npm run collector -- diff --all --run 2026-11-20T10:00:00Z
`;
