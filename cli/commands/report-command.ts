import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { ArchiveReadError, type ArchiveReader } from '../../lambda/verify/archive-reader';
import { readRun } from '../../lambda/verify/read-run';
import { type ListedRun, newestRuns, runsBetween } from '../../lambda/verify/run-keys';
import { openArchive } from '../archive/open-archive';
import { ReportBuilder } from '../report/build-report';
import { formatBytes, formatCount } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type CommandContext, exitCodes, print, printJson } from '../terminal/terminal';
import {
  type ArchiveOption,
  checkPeriod,
  type JsonOption,
  type PeriodOptions,
  parseCount,
  withArchive,
  withJson,
  withPeriod,
} from './archive-options';

interface Options extends ArchiveOption, JsonOption, PeriodOptions {
  readonly out: string;
  readonly limit: number;
}

/** `report`: the archive at a glance, as one page. */
export function reportCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('report')
    .description('Writes one HTML page: clusters down, runs across, each cell its outcome. It needs no network.')
    .requiredOption('--out <file>', 'where to write the page; - for standard output')
    .option('--limit <count>', 'without --from: how many runs, counted from the newest', parseCount, 100)
    .addHelpText('after', helpText);
  withJson(withArchive(withPeriod(command, 'runs')));
  return command.action(async (options: Options) => {
    checkPeriod(command, options);
    const reader = await openArchive(options.archive);
    const builder = new ReportBuilder();
    for await (const listed of chosenRuns(reader, options, terminal.now())) builder.add(await readRun(reader, listed));
    const data = builder.finish(reader.location, terminal.now());
    if (data.runs.length === 0)
      throw new ArchiveReadError(`Writing the report failed: ${reader.location} has no runs in this period`);
    // esbuild and the page are of use to this command only.
    const { reportHtml } = await import('../report/report-html');
    const page = options.json === true ? undefined : reportHtml(data);
    if (page === undefined) {
      if (options.out === '-') await printJson(terminal.out, data);
      else await writeFile(options.out, `${JSON.stringify(data)}\n`);
    } else if (options.out === '-') await print(terminal.out, page);
    else await writeFile(options.out, page);
    if (options.out !== '-')
      await print(
        terminal.err,
        `${printable(options.out)}: ${formatCount(data.clusters.length, 'cluster')}, ${formatCount(data.runs.length, 'run')}` +
          `${page === undefined ? '' : `, ${formatBytes(Buffer.byteLength(page))}`}\n`,
      );
    for (const { key, problem } of data.badRecords)
      await print(terminal.err, `${terminal.errColors.red('bad run record')} ${printable(`${key}: ${problem}`)}\n`);
    if (data.badRecords.length > 0) end(exitCodes.found);
  });
}

async function* chosenRuns(reader: ArchiveReader, options: Options, now: Date): AsyncGenerator<ListedRun> {
  if (options.from !== undefined) yield* runsBetween(reader, options);
  else yield* await newestRuns(reader, options, options.limit, now);
}

const helpText = `
With --json: the data behind the page instead of the page.
Exit codes: 0 done, 1 a run record is damaged (the page says which), 2 wrong command line,
3 it could not be done.

Examples:
  npm run collector -- report --out report.html
  npm run collector -- report --archive s3://my-archive --from 2026-11-01 --out november.html
`.trimEnd();
