import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { type Finding, type FindingKind, findingKinds } from '../../lambda/verify/finding';
import { type VerifyCounts, verifyArchive } from '../../lambda/verify/verify-archive';
import { openArchive } from '../archive/open-archive';
import { formatBytes, formatCount } from '../terminal/format';
import { printable } from '../terminal/printable';
import { printTable } from '../terminal/table';
import { type CommandContext, type ExitCode, exitCodes, print, printJson, type Terminal } from '../terminal/terminal';
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
  readonly strict?: boolean;
  readonly concurrency: number;
}

/** `verify`: whether the archive has everything that it should have, whole and unchanged, and nothing else. */
export function verifyCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('verify')
    .description(
      'Reads every recorded object and checks that it is there, whole and unchanged, that there is no other, and that every run that was due has left its record.',
    )
    .option(
      '--retention-days <days>',
      'after how many days the lifecycle removes objects (default: as the stored configurations say)',
      parseCount,
    )
    .option('--strict', 'exit with 1 also if a run was due and is absent')
    .option('--concurrency <count>', 'objects read at once', parseCount, 8)
    .addHelpText('after', helpText);
  withJson(withArchive(withPeriod(command, terminal)));
  return command.action(async (options: Options) => {
    checkPeriod(command, options);
    const reader = await openArchive(options.archive);
    const findings: Finding[] = [];
    const progress = startProgress(terminal);
    const { from, to, retentionDays, concurrency } = options;
    const counts = await verifyArchive(reader, {
      from,
      to,
      retentionDays,
      now: terminal.now(),
      concurrency,
      onFinding: (finding) => findings.push(finding),
      onProgress: progress.update,
    }).finally(progress.stop);
    findings.sort((a, b) => findingKinds.indexOf(a.kind) - findingKinds.indexOf(b.kind));
    const code = exitCodeOf(counts, options.strict === true);
    if (options.json === true) {
      const period = { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null };
      await printJson(terminal.out, { archive: reader.location, ...period, ok: code === 0, ...counts, findings });
    } else {
      await printFindings(terminal, findings);
      await print(terminal.out, summaryOf(counts, retentionDays));
      await print(terminal.out, verdictOf(terminal, counts, reader.location));
    }
    if (code !== exitCodes.ok) end(code);
  });
}

const damage: readonly FindingKind[] = ['missing', 'damaged', 'contradiction', 'unrecorded'];

function exitCodeOf({ found, runs }: VerifyCounts, isStrict: boolean): ExitCode {
  if (damage.some((kind) => found[kind] > 0)) return exitCodes.found;
  if (found.unreadable > 0 || runs === 0) return exitCodes.trouble;
  return isStrict && found.absent > 0 ? exitCodes.found : exitCodes.ok;
}

async function printFindings(terminal: Terminal, findings: readonly Finding[]): Promise<void> {
  const { colors } = terminal;
  await printTable(
    terminal,
    [
      {
        head: 'Found',
        cell: ({ kind }) => kind,
        color: (text, { kind }) => (damage.includes(kind) ? colors.red(text) : colors.yellow(text)),
      },
      { head: 'Key', cell: ({ key }) => key, wraps: true },
      { head: 'What is wrong', cell: ({ problem }) => problem, wraps: true },
    ],
    findings,
  );
}

function summaryOf({ runs, records, sound, bytes, expired }: VerifyCounts, retentionDays: number | undefined): string {
  const given = retentionDays === undefined ? '' : ` (after ${formatCount(retentionDays, 'day')}, as given)`;
  const removed = expired === 0 && given === '' ? '' : `; ${formatCount(expired, 'object')} expired${given}`;
  return (
    `${formatCount(runs, 'run')}, ${formatCount(records, 'record')}, ` +
    `${formatCount(sound, 'object')} sound (${formatBytes(bytes)} read)${removed}.\n`
  );
}

function verdictOf({ colors }: Terminal, { runs, found }: VerifyCounts, location: string): string {
  const counted = findingKinds.filter((kind) => found[kind] > 0).map((kind) => `${found[kind]} ${kind}`);
  const list = counted.length === 0 ? '' : ` Found: ${counted.join(', ')}.`;
  if (damage.some((kind) => found[kind] > 0)) return `${colors.bold(colors.red('Something is wrong.'))}${list}\n`;
  if (runs === 0)
    return `${colors.red(`Nothing was verified: ${printable(location)} has no runs in this period.`)}${list}\n`;
  if (found.unreadable > 0) return `${colors.yellow('Not everything could be read.')}${list}\n`;
  return `${colors.green(list === '' ? 'Nothing is wrong.' : 'Nothing is damaged.')}${list}\n`;
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
Found can be: missing, damaged (it is another content than was archived), contradiction (records, objects
and configurations do not say the same), unrecorded (in no record), unreadable (it could not be read, which
says nothing about it), absent (the schedule was due, and what it should have left is not there: no damage),
and pending (written in the last 4 hours, its record may still come: no damage).
What was due, and what the lifecycle has removed, is known from the configurations in the archive.
With --json: one object with all counts and findings.
Exit codes: 0 nothing is damaged, 1 something is (with --strict also: something is absent), 2 wrong command
line, 3 it could not be checked, there was nothing to check, or nothing worse than unreadable was found.

Examples:
  npm run collector -- verify
  npm run collector -- verify --archive s3://my-archive --from 2026-11-01 --strict
  npm run --silent collector -- verify --json | jq '.findings[]'
`.trimEnd();
