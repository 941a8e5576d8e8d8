import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { diffCommand } from './commands/diff-command';
import { grepCommand } from './commands/grep-command';
import { historyCommand } from './commands/history-command';
import { listCommand } from './commands/list-command';
import { reportCommand } from './commands/report-command';
import { runsCommand } from './commands/runs-command';
import { sealsCommand } from './commands/seals-command';
import { showCommand } from './commands/show-command';
import { verifyCommand } from './commands/verify-command';
import { printable } from './terminal/printable';
import { type CommandContext, type ExitCode, exitCodes, type Terminal } from './terminal/terminal';

/**
 * Runs one command line.
 * @param args without the program's own name
 * @returns the exit code; errors are printed, not thrown
 */
export async function main(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  const context: CommandContext = {
    terminal,
    end: (ended) => {
      code = ended;
    },
  };
  const program = new Command('collector')
    .description('Reads an archive of cluster logs and manifests, in a local folder or in S3. It never writes to it.')
    .usage('<command> [options]')
    .version(version, '--version', 'print the version')
    .helpCommand('help [command]', 'say what a command does')
    .addHelpText('after', helpText);
  const commands = [
    runsCommand,
    listCommand,
    showCommand,
    diffCommand,
    historyCommand,
    grepCommand,
    verifyCommand,
    sealsCommand,
    reportCommand,
  ];
  for (const command of commands) program.addCommand(command(context));
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .configureOutput({
        writeOut: (text) => terminal.out.write(text),
        writeErr: (text) => terminal.err.write(text),
        getOutHelpWidth: () => Math.min(terminal.columns ?? 100, 120),
        getErrHelpWidth: () => Math.min(terminal.columns ?? 100, 120),
      })
      .showHelpAfterError(
        `(npm run collector -- ${command === program ? '' : `${command.name()} `}--help shows what is accepted)`,
      );
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    terminal.err.write(`${terminal.errColors.red('error:')} ${printable((error as Error).message)}\n`);
    return exitCodes.trouble;
  }
}

const helpText = `
A time names runs. --run TIME is the run of exactly that time, --at TIME the newest run at or before
it, --from and --to bound a period of runs. Times are ISO 8601 (2026-11-20, 2026-11-20T10:00, with Z
or an offset; UTC without one), as keys write them (20261120T100000.000Z), or counted from now
(yesterday, today 03:00, 2h ago, 3 days ago). A date alone means all of its day.

Exit codes: 0 done, 1 a difference (diff), no match (grep) or damage (all others) was found,
2 wrong command line, 3 it could not be done.

Examples:
  npm run collector -- runs
  npm run collector -- show my-cluster --resource manifest --at yesterday
  npm run collector -- verify --archive s3://my-archive --from 2026-11-01
`.trimEnd();
