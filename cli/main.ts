import { Command, CommanderError } from 'commander';
import { ConfigError } from '../infra/config/config';
import { version } from '../package.json';
import { diffCommand } from './commands/diff-command';
import { doctorCommand } from './commands/doctor-command';
import { exportCommand } from './commands/export-command';
import { grepCommand } from './commands/grep-command';
import { historyCommand } from './commands/history-command';
import { listCommand } from './commands/list-command';
import { logCommand } from './commands/log-command';
import { printsTo, withHelp } from './commands/options';
import { reportCommand } from './commands/report-command';
import { runCommand } from './commands/run-command';
import { runsCommand } from './commands/runs-command';
import { showCommand } from './commands/show-command';
import { earlyProblem } from './commands/usage-errors';
import { verifyCommand } from './commands/verify-command';
import { printable, printableLines } from './terminal/printable';
import {
  type CommandContext,
  type Ending,
  exitCodes,
  InterruptedError,
  processSurroundings,
  type Surroundings,
  type Terminal,
} from './terminal/terminal';

/** Set in the package: the commit that it was packed from. */
declare const packedCommit: string | undefined;

const versionText = typeof packedCommit === 'string' ? `${version} (${packedCommit})` : version;

/** Commands that there were, and what does their work now. */
const formerCommands = {
  seals: '"verify --seals", and its --public-key "verify --print-keys"',
  stats: '"list --by day" or "list --by cluster"',
};

/**
 * Runs one command line.
 * @param args without the program's own name
 * @returns the exit code; errors are printed, not thrown
 */
export async function main(
  args: readonly string[],
  terminal: Terminal,
  surroundings: Surroundings = processSurroundings(),
): Promise<number> {
  let ended: Ending = 'ok';
  const context: CommandContext = {
    terminal,
    surroundings,
    end: (ending) => {
      // What was found counts for more than what could not be read.
      if (ended !== 'found' && ending !== 'ok') ended = ending;
    },
  };
  const program = new Command('npm run collector --')
    .description(
      'Reads an archive of cluster logs and manifests, in a local folder or in S3. It never writes to it: `export` copies a part of it, `run` asks the deployed collector to.',
    )
    .usage('<command> [options]')
    .version(versionText, '--version', 'print the version')
    .helpCommand('help [command]', 'say what a command does');
  withHelp(program, terminal, helpText);
  const commands = [
    runsCommand,
    listCommand,
    showCommand,
    diffCommand,
    historyCommand,
    logCommand,
    grepCommand,
    verifyCommand,
    exportCommand,
    reportCommand,
    runCommand,
    doctorCommand,
  ];
  for (const command of commands) program.addCommand(command(context));
  for (const [name, now] of Object.entries(formerCommands))
    program.addCommand(
      new Command(name)
        .allowUnknownOption()
        .allowExcessArguments()
        .action(() => program.error(`error: the command ${name} is ${now} now`)),
      { hidden: true },
    );
  printsTo(terminal, program, 'npm run collector --');
  for (const command of program.commands) printsTo(terminal, command, `npm run collector -- ${command.name()}`);
  try {
    const problem = earlyProblem(program, args);
    if (problem !== undefined) program.error(problem);
    await program.parseAsync(args, { from: 'user' });
    return exitCodes[ended];
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof InterruptedError) {
      terminal.err.write(`${error.message}\n`);
      return exitCodes.interrupted;
    }
    const { message } = error as Error;
    // The problems of a configuration are a line each.
    const text = error instanceof ConfigError ? printableLines(message) : printable(message);
    terminal.err.write(`${terminal.errColors.red('error:')} ${text}\n`);
    return exitCodes.trouble;
  }
}

const helpText = `
A time names runs. --run TIME is the run of exactly that time. --from and --to bound a period of runs. Times are ISO 8601 (2026-11-20, 2026-11-20T10:00, with Z or an offset; UTC without one), as keys
write them (20261120T100000.000Z), or counted from now (yesterday, today 03:00, tuesday, 2h, 3 days ago, last week). A date
alone means the whole day. --since is --from.

Where a terminal is too narrow, tables leave columns out, the least important first. COLUMNS=200 shows all of them in a
pipe too, and --json has everything.

Exit codes: 0 done, 1 something was found: a difference (diff), no line (grep), something not archived (run), something
wrong or not seen (doctor), an overdue run (runs), a cluster that is stale (list --stale), no seal (export), lines that may be lost
(log --strict), damage (all others that read the archive). 2 wrong command line, 3 it could not be done, or damage (diff, grep), 130
interrupted.

Examples:
  npm run collector -- runs
  npm run collector -- show my-cluster --resource manifest --at yesterday
  npm run collector -- verify --archive s3://my-archive --from 2026-11-01
  npm run collector -- run --stack my-collector --run 2026-11-20T10:00:00Z
`;
