import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { ArchiveReadError } from '../../lambda/verify/archive-reader';
import { openArchive } from '../archive/open-archive';
import { isAbsent, RunReader } from '../archive/run-reader';
import { StaleClusters } from '../archive/stale-clusters';
import { ReportBuilder } from '../report/build-report';
import { formatBytes, formatCount } from '../terminal/format';
import { describeOverdue } from '../terminal/print-run';
import { escapedJson, printable } from '../terminal/printable';
import { type CommandContext, print } from '../terminal/terminal';
import {
  endWithProblems,
  type ReadOptions,
  type RunOptions,
  selectionOf,
  withArchive,
  withHelp,
  withRuns,
} from './options';

interface Options extends ReadOptions, RunOptions {
  readonly out?: string;
}

const defaultRuns = 100;

/** `report`: the archive at a glance, as one page. */
export function reportCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('report')
    .summary('the whole fleet on one page')
    .description('Writes one HTML page: clusters down, runs across, each cell its outcome. It needs no network.')
    .option('--out <file>', 'where to write the page; - for standard output (default with --json)');
  withHelp(withArchive(withRuns(command, terminal, defaultRuns)), terminal, helpText);
  return command.action(async (options: Options) => {
    const { out = options.json === true ? '-' : undefined } = options;
    if (out === undefined)
      return command.error("error: required option '--out <file>' not specified; - writes to standard output");
    const archive = await openArchive(options.archive);
    const reader = new RunReader(archive, terminal.now());
    const builder = new ReportBuilder();
    const clusters = new StaleClusters();
    const isNewest = options.run === undefined && options.at === undefined && options.to === undefined;
    for await (const row of reader.select(selectionOf(options, defaultRuns))) {
      if (isAbsent(row)) {
        builder.addAbsent(row);
      } else {
        builder.add(row);
        clusters.addRun(row);
      }
    }
    if (reader.newest === undefined)
      throw new ArchiveReadError(`Writing the report failed: ${archive.location} has no runs in this period`);
    const overdue = isNewest ? await reader.overdue() : undefined;
    if (overdue !== undefined) builder.addAbsent(overdue);
    const data = builder.finish({
      archive: archive.location,
      createdAt: reader.now.toISOString(),
      isNewest,
      overdue: overdue && describeOverdue(overdue),
      ...clusters.find(await reader.configuration(), isNewest ? reader.now : reader.newest),
    });
    // Other commands do not need esbuild, which takes long to load.
    const { reportHtml } = await import('../report/report-html');
    const text = options.json === true ? `${escapedJson(data)}\n` : reportHtml(data);
    if (out === '-') await print(terminal.out, text);
    else {
      await writeFile(out, text);
      const counts = `${formatCount(data.clusters.length, 'cluster')}, ${formatCount(data.runs.length, 'run')}`;
      await print(terminal.err, `${printable(out)}: ${counts}, ${formatBytes(Buffer.byteLength(text))}\n`);
    }
    await endWithProblems(terminal, reader, end);
  });
}

const helpText = `
With --json: the data behind the page instead of the page.

Exit codes: 0 done, 1 a run record is damaged (the page says which), 2 wrong command line, 3 it could not be done, or
a run record could not be read.

Examples:
  npm run collector -- report --out report.html
  npm run collector -- report --archive s3://my-archive --from 2026-11-01 --out november.html
`;
