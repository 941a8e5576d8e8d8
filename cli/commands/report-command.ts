import { stat, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { readChain } from '../../archive/prove';
import { isAbsent } from '../archive/absent-runs';
import { defaultArchive } from '../archive/open-archive';
import type { RunReader } from '../archive/run-reader';
import { noRuns } from '../archive/select-runs';
import { reportPage } from '../report/page';
import { Report } from '../report/report';
import { formatBytes, formatCount } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type CommandContext, print, type Terminal, writeProblem } from '../terminal/terminal';
import { type RunOptions, readRuns, selectionOf, withHelp, withLast, withPeriod } from './options';
import { describeStamp, newestStamps } from './print-health';

interface Options extends RunOptions {
  readonly out: string;
  readonly all?: boolean;
}

const defaultRuns = 100;

export function reportCommand(context: CommandContext): Command {
  const { terminal } = context;
  const command = new Command('report')
    .summary('the whole fleet on one page')
    .description('Writes one HTML page: clusters down, runs across, each cell its outcome. It needs no network.')
    .requiredOption('--out <file>', 'where to write the page; - writes to standard output')
    .option('--all', 'show every cluster, however large the page becomes')
    .option('--archive <location>', 'the archive: a folder or s3://bucket', defaultArchive);
  withHelp(withLast(withPeriod(command, terminal), 'runs', `${defaultRuns}, with --from all`), terminal, helpText);
  return command.action((options: Options) =>
    readRuns(context, options, (reader) => writeReport(terminal, reader, options)),
  );
}

async function writeReport(terminal: Terminal, reader: RunReader, options: Options): Promise<void> {
  const { out, all = false } = options;
  const report = new Report();
  const isNewest = options.to === undefined;
  for await (const row of reader.select(selectionOf(options, defaultRuns)))
    report.add(isAbsent(row) ? row : await reader.held.run(row));
  const { location: archive } = reader.archive;
  if (reader.newest === undefined) throw await noRuns(reader, 'Writing the report');
  const overdue = isNewest ? (await reader.overdue()).overdue : undefined;
  if (overdue !== undefined) report.add(overdue);
  const stale = await reader.stale(isNewest ? reader.now : reader.newest);
  const { remarks: problems, now: createdAt } = reader;
  const chain = await readChain(reader.archive, {}, () => undefined);
  const stamps = (await newestStamps(reader.archive, chain, () => undefined)).map(describeStamp);
  const facts = {
    archive,
    createdAt,
    isNewest,
    overdue: overdue?.text,
    problems,
    notLookedAt: reader.held.notLookedAt,
    clusterChanges: reader.lists.all,
    stamps,
    ...stale,
  };
  const page = reportPage(report, facts, all);
  if (out === '-') {
    for (const part of page) await print(terminal.out, part);
    return;
  }
  await writeFile(out, page).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'its folder is not there' : writeProblem(error);
    throw new Error(`Writing the report into ${out} failed: ${why}; --out names another file`, { cause: error });
  });
  const counts = `${formatCount(report.clusters.size, 'cluster')}, ${formatCount(report.runs.length, 'run')}`;
  await print(terminal.err, `${printable(out)}: ${counts}, ${formatBytes((await stat(out)).size)}\n`);
}

const helpText = `
The table has every cluster, as long as that makes at most 20,000 cells. Of a larger fleet it has the clusters with
failures, doubts, late content or changes, the worst first; --all shows every cluster.

Exit codes: 0 done, 1 something is missing, or a run record is damaged (the page says which), 2 wrong command line, 3 it could not be done, or
a run record could not be read.

Examples:
  npm run collector -- report --out report.html
  npm run collector -- report --archive s3://my-archive --from 2026-11-01 --out november.html
`;
