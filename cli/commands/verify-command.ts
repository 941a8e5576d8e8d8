import { Command, InvalidArgumentError } from 'commander';
import { kinds } from '../../archive/format/finding';
import { verdictValue } from '../../archive/format/verdict';
import { describeNotJudged, type Part, type Verified, type VerifyCounts, verifyArchive } from '../../archive/prove';
import type { ArchiveReader, Period } from '../../archive/read';
import { isUid, nearestToOne } from '../archive/cluster-names';
import { openArchive, withTime } from '../archive/open-archive';
import { atMost, formatBytes, formatCount, formatCounts, formatPeriod, formatTime } from '../terminal/format';
import { formatDoubts } from '../terminal/print-run';
import { printable } from '../terminal/printable';
import { Progress } from '../terminal/progress';
import { type CommandContext, type Ending, print, printJson, type Terminal } from '../terminal/terminal';
import { printSeals, type SealOptions, withSeals } from './list-seals';
import { type ReadOptions, withArchive, withHelp, withPeriod } from './options';
import { printFindings } from './print-findings';
import { describeStamp } from './print-health';
import { type PublicKeyOptions, type StampRootOptions, withPublicKeys, withStampRoots } from './trust-options';

interface Options extends ReadOptions, Period, PublicKeyOptions, StampRootOptions, SealOptions {
  readonly strict?: boolean;
  readonly part?: boolean;
  readonly cluster?: string;
  readonly head?: readonly string[];
}

/** Objects that are read at once: a bucket takes its time for each, and a folder none. */
const [fromBucket, fromFolder] = [48, 8];

export function verifyCommand(context: CommandContext): Command {
  const { terminal, end } = context;
  const command = new Command('verify')
    .summary('whether all is there and unchanged')
    .description(
      'Checks that every recorded object is there, whole and unchanged, that no other object is there, that every run that was due left its record, and that all of it is what the seals say.',
    )
    .option('--head <sha256...>', 'SHA-256 of seals that have to be there, from the mails of audits', parseHashes)
    .option('--part', 'the folder is a copy of the part that --cluster, --from and --to say, as "export" writes it')
    .option('--cluster <uid>', 'of objects only those of this cluster')
    .option('--strict', 'exit with 1 also if a run was due and is absent');
  const trusting = withStampRoots(withPublicKeys(command), terminal);
  const json = 'one object with all counts and findings';
  const others = ['head', 'part', 'cluster', 'strict', 'publicKey', 'tsaCa', 'stampedSince', 'from', 'to'];
  withSeals(withArchive(withPeriod(trusting, terminal), json), others);
  withHelp(command, terminal, helpText);
  return command.action(async (options: Options) => {
    if (options.seals === true || options.printKeys === true) return printSeals(context, options);
    if (options.last !== undefined) command.error('error: --last without --seals: expected --from and --to for runs');
    if (options.part === true && options.archive.startsWith('s3://'))
      command.error(`error: --part with ${options.archive}: a bucket is never a part; expected a folder`);
    if (options.part === true && options.cluster === undefined)
      command.error('error: --part without --cluster: expected the cluster that the part was asked for');
    const opened = await withTime(await openArchive(options.archive), terminal);
    const { archive: reader, now, isLive } = opened;
    // Of what was typed as a pattern, all that lies there would be too much.
    if (options.part === true && options.cluster !== undefined && !(await isUid(opened, options.cluster)))
      command.error(`error: --part --cluster ${options.cluster}: expected one uid; a part is of one cluster`);
    const progress = new Progress(terminal, 'Verifying runs', { now: 'listing the archive' });
    const { publicKey: publicKeys, head: heads } = options;
    const { from, to, cluster } = options;
    const part = options.part === true && cluster !== undefined ? { cluster, from, to } : undefined;
    const { tsaCa: stampRoots, stampedSince } = options;
    const verified = await verifyArchive(reader, {
      ...(part === undefined ? { from, to, cluster } : { part }),
      publicKeys,
      heads,
      stampRoots,
      stampedSince,
      now,
      concurrency: isLive ? fromBucket : fromFolder,
      onProgress: (done, total, now) => progress.update({ done, total, now: describeCounts(now) }),
    }).finally(() => progress.stop());
    const { seen: counts, notSeen, findings } = verified;
    const [ending, verdict] = verdictOf(terminal, verified, reader.location, options);
    if (options.json === true) {
      const asked = { archive: reader.location, from: from ?? null, to: to ?? null, part, cluster };
      await printJson(terminal.out, {
        ...asked,
        ...{ ok: ending === 'ok', verdict: verdictValue(verified) },
        ...counts,
        ...{ notSeen, findings },
      });
    } else {
      if (part !== undefined) await print(terminal.out, `${printable(describePart(part))}\n`);
      else if (cluster !== undefined)
        await print(terminal.out, `${printable(`Only the objects of cluster ${cluster}:`)}\n`);
      await printFindings(terminal, findings);
      const notJudged = counts.notJudged.map((span) => `${describeNotJudged(span)}\n`).join('');
      const seals = sealedOf(counts, publicKeys !== undefined) + stampedOf(counts, stampRoots !== undefined);
      await print(
        terminal.out,
        summaryOf(counts) + notJudged + passedOverOf(reader) + bareOf(counts) + seals + verdict,
      );
    }
    if (cluster !== undefined && counts.sound === 0) {
      const nearest = (await nearestToOne(opened, cluster)).replace('; ', '');
      if (nearest !== '') await print(terminal.err, `${printable(`Cluster ${cluster}: ${nearest}`)}\n`);
    }
    end(ending);
  });
}

/** A SHA-256 as mails and `sha256sum` write it, behind those before. */
function parseHashes(text: string, before: readonly string[] = []): readonly string[] {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new InvalidArgumentError('expected a SHA-256: 64 hexadecimal digits.');
  return [...before, text.toLowerCase()];
}

/** What was asked for. */
function describePart({ cluster, ...period }: Part): string {
  return `PART: cluster ${cluster}, all runs${formatPeriod(period)}, as of the newest seal`;
}

function summaryOf(counts: VerifyCounts): string {
  const { runs, records, sound, doubts, bytes, expired, found } = counts;
  const unvouched = found.unvouched === 0 ? '' : `, ${found.unvouched} unvouched`;
  const removed = expired === 0 ? '' : `; ${formatCount(expired, 'object')} expired`;
  return (
    `${formatCount(runs, 'run')}, ${formatCount(records, 'record')}, ` +
    `${formatCount(sound, 'object')} sound${unvouched} (${formatBytes(bytes)} read)${formatDoubts(doubts)}${removed}.\n`
  );
}

function describeCounts({ sound, bytes, found }: VerifyCounts): string {
  const damage = Object.values(found).reduce((sum, count) => sum + count, 0);
  return `${formatCount(sound, 'object')}, ${formatBytes(bytes)}, ${damage === 0 ? 'nothing wrong so far' : `${damage} found`}`;
}

/** Says what a file manager left in a folder. */
function passedOverOf({ passedOver }: ArchiveReader): string {
  const [first, ...others] = [...(passedOver ?? [])].sort();
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : ` and ${formatCount(others.length, 'other path')}`;
  return `Passed over, because a file manager left it there: ${printable(first)}${more}.\n`;
}

/** Says once that a copy was made without its metadata. */
function bareOf({ withoutMetadata: count }: VerifyCounts): string {
  const are = `${formatCount(count, 'object')} ${count === 1 ? 'has' : 'have'}`;
  return count === 0 ? '' : `${are} no metadata here: contents were compared with the run records alone.\n`;
}

/** What attests the archive, and whose word that is. */
function sealedOf({ sealed }: VerifyCounts, areKeysGiven: boolean): string {
  if (sealed === null) return 'Not sealed: nothing attests that the run records are those that were written.\n';
  const { seals, newest } = sealed;
  if (newest === null) return 'Seals are there, and none is right: nothing attests the run records.\n';
  const trust = areKeysGiven
    ? 'Signatures were checked with the keys given.'
    : "Signatures were checked with the archive's own key, which proves little: give a key that you kept to --public-key.";
  return (
    `${formatCount(seals, 'seal')}, the newest is number ${newest.number} of ${formatTime(newest.seal)}, ` +
    `SHA-256 ${newest.sha256}, of the archive ${newest.archive}.\n${trust}\n`
  );
}

/** Most seals that are named because they were stamped late. */
const shownLate = 5;

function stampedOf({ sealed }: VerifyCounts, areRootsGiven: boolean): string {
  const lines = (sealed?.stamps ?? []).map((stamp) => `${describeStamp(stamp)}\n`);
  const late = (sealed?.late ?? []).map(
    ({ number, listedFrom, time, authority }) =>
      `Seal ${number} says that it is of ${formatTime(listedFrom)}, and was stamped first at ${time}, by ${authority}: late by more than a day.\n`,
  );
  const trust =
    "The roots of these authorities are those that the seals' own plans name, which proves little: give roots that you trust to --tsa-ca.\n";
  const shown = atMost(shownLate, late, (more) => `… and ${more} more seals that were stamped late\n`);
  return [...lines, ...shown, lines.length > 0 && !areRootsGiven ? trust : ''].join('');
}

/** How the command ends, and the sentences that say so. */
function verdictOf(
  { colors }: Terminal,
  verified: Verified,
  location: string,
  { strict, cluster }: Options,
): readonly [Ending, string] {
  const { runs, sound, expired, found, acknowledged } = verified.seen;
  const value = verdictValue(verified);
  const counted = formatCounts(found);
  const known = acknowledged === 0 ? '' : ` ${formatCount(acknowledged, 'finding')} acknowledged.`;
  const list = counted === '' ? '' : ` Found: ${counted}.${known}`;
  if (value === 'wrong') {
    const act = 'What to do: docs/alarms.md, "Audit found damage".';
    return ['found', `${colors.bold(colors.red('Something is wrong.'))}${list} ${act}\n`];
  }
  // A uid may be mistyped.
  if (runs === 0 || (cluster !== undefined && sound + expired + found.pending + verified.wrong.length === 0)) {
    const what = runs === 0 ? 'runs' : `objects of cluster ${cluster}`;
    const nothing = printable(`Nothing was verified: ${location} has no ${what} in this period.`);
    return ['trouble', `${colors.red(nothing)}${list}\n`];
  }
  if (found.unreadable > 0) return ['trouble', `${colors.yellow('Not everything could be read.')}${list}\n`];
  // Who asks for absent runs has no answer where nobody can tell which were due.
  if (value === 'not seen' && strict === true && found.absent === 0)
    return ['trouble', `${colors.yellow('Nobody can tell whether a run is absent.')}${list}\n`];
  const ending = strict === true && found.absent > 0 ? 'found' : 'ok';
  if (acknowledged > 0) return [ending, `${colors.yellow('All damage is acknowledged.')}${list}\n`];
  return [
    ending,
    `${colors.green(list === '' && value === 'right' ? 'Nothing is wrong.' : 'Nothing is damaged.')}${list}\n`,
  ];
}

const helpText = `
What it finds, the worst first; up to unsealed it is damage:
${Object.entries(kinds)
  .map(([kind, { means }]) => `  ${kind.padEnd(13)}  ${means}`)
  .join('\n')}

--public-key: without it, verify trusts the key in the archive, which whoever forges seals can replace. If the key was changed, give all
keys. --head: the chain has to have the seals with all SHA-256 that you give, as mails have them; what is gone is excused only by the
retention of these. --cluster: all run records and seals are checked, and of the objects those of one cluster. --part: the folder holds no
more than that, as "export" writes it, and is judged as of its newest seal; ask for what you were promised, not for what the sender
says that it is. Damage that audit.acknowledged names does not count for the exit code.

Exit codes: 0 nothing is damaged but what is acknowledged, 1 something is (with --strict also: something is absent), 2
wrong command line, 3 it could not be checked, there was nothing to check, or nothing worse than unreadable was found (with
--strict also: nobody can tell which runs were due).

--seals lists what each audit read and found, and below it what is open by the newest seal. --print-keys: keep the keys outside the
account from the first day on, because whoever can write the archive can replace the key in it. Of both, the exit code is 1 where
the chain is broken or damage is open.

Examples:
  npm run collector -- verify
  npm run collector -- verify --archive s3://my-archive --from 2026-11-01 --strict
  npm run collector -- verify --archive s3://my-archive --public-key seals-public-key.pem --head 5f2c…
  npm run --silent collector -- verify --json | jq '.findings[]'
  npm run collector -- verify --archive s3://my-archive --seals
  npm run --silent collector -- verify --archive s3://my-archive --print-keys > seals-public-key.pem
`;
