import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { configuredRetention, type Retention } from '../../lambda/verify/retention';
import { type Finding, type VerifyCounts, verifyArchive } from '../../lambda/verify/verify-archive';
import { openArchive } from '../archive/open-archive';
import { formatBytes, formatCount } from '../terminal/format';
import { printTable } from '../terminal/table';
import { type CommandContext, exitCodes, print, printJson, type Terminal } from '../terminal/terminal';
import {
  type ArchiveOption,
  checkPeriod,
  type JsonOption,
  type PeriodOptions,
  parseCount,
  withArchive,
  withJson,
  withPeriod,
} from './options';

interface Options extends ArchiveOption, JsonOption, PeriodOptions {
  readonly retentionDays?: number;
  readonly config: string;
  readonly concurrency: number;
}

/** `verify`: whether everything recorded is there, whole and unchanged, and nothing else. */
export function verifyCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('verify')
    .description('Reads every recorded object and checks that it is there, whole and unchanged, and that no other is.')
    .option('--retention-days <days>', 'after how many days the lifecycle removes objects', parseCount)
    .option('--config <file>', 'where archive.retentionDays is looked up otherwise', 'collector.json')
    .option('--concurrency <count>', 'objects read at once', parseCount, 8)
    .addHelpText('after', helpText);
  withJson(withArchive(withPeriod(command, terminal)));
  return command.action(async (options: Options) => {
    checkPeriod(command, options);
    const reader = await openArchive(options.archive);
    const retention =
      options.retentionDays === undefined
        ? await configuredRetention(options.config)
        : { days: options.retentionDays, source: '--retention-days' };
    const findings: Finding[] = [];
    const progress = startProgress(terminal);
    const { from, to, concurrency } = options;
    const counts = await verifyArchive(reader, {
      from,
      to,
      retention,
      now: terminal.now(),
      concurrency,
      onFinding: (finding) => findings.push(finding),
      onProgress: progress.update,
    }).finally(progress.stop);
    const isSound = findings.every(({ kind }) => kind === 'pending');
    if (options.json === true) {
      const period = { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null };
      await printJson(terminal.out, { archive: reader.location, ...period, ok: isSound, ...counts, findings });
    } else {
      await printFindings(terminal, findings, counts, retention);
    }
    if (isSound) return;
    end(findings.some(({ kind }) => kind !== 'pending' && kind !== 'unreadable') ? exitCodes.found : exitCodes.trouble);
  });
}

async function printFindings(
  terminal: Terminal,
  findings: readonly Finding[],
  counts: VerifyCounts,
  retention: Retention | undefined,
): Promise<void> {
  const { colors } = terminal;
  await printTable(
    terminal,
    [
      {
        head: 'Found',
        cell: ({ kind }) => kind,
        color: (text, { kind }) => (kind === 'pending' ? colors.yellow(text) : colors.red(text)),
      },
      { head: 'Key', cell: ({ key }) => key, wraps: true },
      { head: 'What is wrong', cell: ({ problem }) => problem, wraps: true },
    ],
    findings,
  );
  const { runs, records, sound, bytes, expired, found } = counts;
  const removed =
    retention === undefined ? '' : `; ${expired} expired (${formatCount(retention.days, 'day')}, ${retention.source})`;
  const damage = Object.entries(found)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`);
  await print(
    terminal.out,
    `${formatCount(runs, 'run')}, ${formatCount(records, 'record')}, ` +
      `${formatCount(sound, 'object')} sound (${formatBytes(bytes)} read)${removed}.\n` +
      (damage.length === 0
        ? `${colors.green('Nothing is wrong.')}\n`
        : `${colors.bold(colors.red('Found'))}: ${damage.join(', ')}.\n`),
  );
}

interface Progress {
  update: (done: number, total: number, counts: VerifyCounts) => void;
  stop: () => void;
}

/** A progress bar on a terminal; nothing in a pipe. */
function startProgress({ err, isWatched }: Terminal): Progress {
  if (!isWatched) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar({
    stream: err as NodeJS.WriteStream,
    format: 'verifying {bar} {percentage}% | {objects} | {damage} | {eta_formatted}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 500,
  });
  bar.start(1, 0, { objects: '', damage: '' });
  return {
    update: (done, total, { sound, bytes, found }) => {
      const damage = Object.values(found).reduce((sum, count) => sum + count, 0);
      bar.setTotal(total);
      bar.update(done, {
        objects: `${formatCount(sound, 'object')}, ${formatBytes(bytes)}`,
        damage: damage === 0 ? 'nothing wrong' : `${damage} found`,
      });
    },
    stop: () => bar.stop(),
  };
}

const helpText = `
Found can be: missing, damaged (it is another content than was archived), contradiction (records and
objects do not say the same), unrecorded (in no record), unreadable (it could not be read, which says
nothing about it), and pending (written in the last 15 minutes, its record may still come: no damage).
What the lifecycle has removed is counted as expired.
With --json: one object with all counts and findings.
Exit codes: 0 nothing is wrong, 1 something is, 2 wrong command line, 3 it could not be checked, or
nothing worse than unreadable was found.

Examples:
  npm run collector -- verify
  npm run collector -- verify --archive s3://my-archive --from 2026-11-01 --retention-days 365
  npm run --silent collector -- verify --json | jq '.findings[]'
`.trimEnd();
