import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { ArchiveReadError } from '../../lambda/verify/archive-reader';
import { isAbsent, type RunReader } from '../archive/run-reader';
import { ReportBuilder } from '../report/build-report';
import { formatBytes, formatCount } from '../terminal/format';
import { escapedJson, printable } from '../terminal/printable';
import { type CommandContext, print, type Terminal } from '../terminal/terminal';
import { type RunOptions, readRuns, selectionOf, withHelp, withRuns } from './options';
import { describeOverdue } from './print-health';

interface Options extends RunOptions {
  readonly out?: string;
}

const defaultRuns = 100;

export function reportCommand(context: CommandContext): Command {
  const command = new Command('report')
    .summary('the whole fleet on one page')
    .description('Writes one HTML page: clusters down, runs across, each cell its outcome. It needs no network.')
    .option('--out <file>', 'where to write the page; - for standard output (default with --json)');
  withHelp(withRuns(command, context.terminal, defaultRuns), context.terminal, helpText);
  return command.action((options: Options) => {
    const { out = options.json === true ? '-' : undefined } = options;
    if (out === undefined)
      return command.error("error: required option '--out <file>' not specified; - writes to standard output");
    return readRuns(context, options, (reader) => writeReport(context.terminal, reader, options, out));
  });
}

async function writeReport(terminal: Terminal, reader: RunReader, options: Options, out: string): Promise<void> {
  const builder = new ReportBuilder();
  const isNewest = options.run === undefined && options.at === undefined && options.to === undefined;
  for await (const row of reader.select(selectionOf(options, defaultRuns))) {
    if (isAbsent(row)) builder.addAbsent(row);
    else builder.add(row);
  }
  const { location } = reader.archive;
  if (reader.newest === undefined)
    throw new ArchiveReadError(`Writing the report failed: ${location} has no runs in this period`);
  const overdue = isNewest ? await reader.overdue() : undefined;
  if (overdue !== undefined) builder.addAbsent(overdue);
  const data = builder.finish({
    archive: location,
    createdAt: reader.now.toISOString(),
    isNewest,
    overdue: overdue && describeOverdue(overdue),
    ...(await reader.stale(isNewest ? reader.now : reader.newest)),
  });
  // Other commands do not need esbuild, which takes long to load.
  const { reportHtml } = await import('../report/report-html');
  const text = options.json === true ? `${escapedJson(data)}\n` : reportHtml(data);
  if (out === '-') return print(terminal.out, text);
  await writeFile(out, text);
  const counts = `${formatCount(data.clusters.length, 'cluster')}, ${formatCount(data.runs.length, 'run')}`;
  await print(terminal.err, `${printable(out)}: ${counts}, ${formatBytes(Buffer.byteLength(text))}\n`);
}

const helpText = `
With --json: the data behind the page instead of the page.

Exit codes: 0 done, 1 a run record is damaged (the page says which), 2 wrong command line, 3 it could not be done, or
a run record could not be read.

Examples:
  npm run collector -- report --out report.html
  npm run collector -- report --archive s3://my-archive --from 2026-11-01 --out november.html
`;
