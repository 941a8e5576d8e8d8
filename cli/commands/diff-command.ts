import { Command } from 'commander';
import { openArchive } from '../archive/open-archive';
import { type CommandContext, exitCodes } from '../terminal/terminal';
import { type CheckOptions, VouchedNotes, withCheck } from './check-option';
import { type ClusterDiffOptions, diffCluster } from './diff-cluster';
import { type ReadOptions, resourceOption, withArchive, withHelp, withOneRun, withPeriod } from './options';

interface Options extends ReadOptions, CheckOptions, ClusterDiffOptions {}

/** `diff`: what changed of one cluster. */
export function diffCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('diff')
    .summary('what changed between two runs')
    .description('Shows what changed between two runs as a unified diff; without times, between the two newest.')
    .argument('<cluster>', "the cluster's uid")
    .addOption(resourceOption('what to compare', 'manifest'));
  withPeriod(withOneRun(command, terminal, ['from', 'to']), terminal, [
    'compare from the newest run at or before this time',
    'compare to the newest run at or before this time',
  ]).option('--no-escape', 'leave control characters of the content as they are, for patch');
  withHelp(withArchive(withCheck(command)), terminal, helpText);
  return command.action(async (cluster: string, options: Options) => {
    const reader = await openArchive(options.archive);
    const notes = new VouchedNotes(reader, options);
    const code = await diffCluster(terminal, reader, cluster, options, notes);
    end((await notes.print(terminal)) ? code : exitCodes.trouble);
  });
}

const helpText = `
The cluster is compared between two runs that archived it. Standard error says which two these are, and whether they
were fetched late. --run and --at compare that run with the one before it. --from and --to compare the state when
the period began with the state when it ended. history --all says which clusters changed.

--check: standard error says which seal vouches for both sides.

With --json: one object; its members are in docs/reading-the-archive.md.

Exit codes: 0 no difference, 1 a difference, 2 wrong command line, 3 it could not be compared, or with
--check no seal vouches for both.

Examples:
  npm run collector -- diff my-cluster
  npm run collector -- diff my-cluster --resource log --from yesterday --to yesterday
  npm run collector -- diff my-cluster --run 2026-11-20T10:00:00Z
`;
