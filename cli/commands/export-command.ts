import { join } from 'node:path';
import { Command } from 'commander';
import { isRemark } from '../../archive/format/finding';
import { encodeSegment, stampOf } from '../../archive/format/keys';
import { verdictValue } from '../../archive/format/verdict';
import { type Part, partPageFile, partReaderFile, verifyArchive } from '../../archive/prove';
import { FolderArchiveReader, type Period } from '../../archive/read';
import { nearestToOne } from '../archive/cluster-names';
import { openArchiveNow } from '../archive/open-archive';
import { type CopiedPart, copyPart } from '../export/copy-part';
import { formatCount, formatTime, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';
import { Progress } from '../terminal/progress';
import { type CommandContext, print, printJson } from '../terminal/terminal';
import { type ReadOptions, withArchive, withHelp, withPeriod } from './options';
import { printRemarks } from './print-findings';
import { type PublicKeyOptions, withPublicKeys } from './trust-options';

interface Options extends ReadOptions, Period, PublicKeyOptions {
  readonly cluster: string;
  readonly out: string;
}

export function exportCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('export')
    .summary('one cluster with its proofs, for an auditor')
    .description(
      'Copies the objects of one cluster into a new folder, with the run records and the seals that vouch for them, and a page that tells how to check them without our code.',
    )
    .requiredOption('--cluster <uid>', "the cluster's uid")
    .requiredOption('--out <folder>', 'the folder to write, new or empty');
  const json = 'one object, with the keys of the objects';
  withHelp(withArchive(withPublicKeys(withPeriod(command, terminal)), json), terminal, helpText);
  return command.action(async ({ cluster, out, from, to, publicKey, archive: location, json }: Options) => {
    const opened = await openArchiveNow(location, terminal);
    const { archive, now } = opened;
    const part: Part = { cluster, from, to };
    const progress = new Progress(terminal, 'Exporting', { now: 'copying the records, the objects and the seals' });
    const nearest = () => nearestToOne(opened, cluster);
    const copied = await copyPart(archive, part, out, publicKey, nearest).finally(() => progress.stop());
    const copy = new FolderArchiveReader(out);
    const verified = await verifyArchive(copy, { part, publicKeys: publicKey, now, concurrency: 8 });
    const { found, sound, sealed } = verified.seen;
    const { vouchedBy, ...shown } = copied;
    const { objects, notCopied, unsealed, ...counts } = shown;
    const vouched = sealed?.newest ? sound : 0;
    const all = objects.length + notCopied.length;
    await printRemarks(terminal, [
      ...notCopied.map(({ key, problem }) => ({ kind: 'damaged' as const, key, problem: `not copied: ${problem}` })),
      ...verified.findings.filter(({ kind }) => !isRemark(kind)),
    ]);
    const value = verdictValue({ ...verified, wrong: [...notCopied.map(() => ({})), ...verified.wrong] });
    // An object that could not be read back is not seen. Which runs were due is not what a part is asked.
    const unread = found.unreadable > 0 ? 'trouble' : undefined;
    end(value === 'wrong' ? 'found' : (unread ?? (vouched === all ? 'ok' : 'found')));
    if (json === true)
      return printJson(terminal.out, {
        out,
        archive: archive.location,
        exportedAt: now.toISOString(),
        ...part,
        ...shown,
        sound,
        found,
        vouched: vouched === all,
      });
    const ofRuns = `${formatCount(counts.records, 'record')} of ${formatCount(counts.runs, 'run')}`;
    const parts = [formatCount(objects.length, 'object'), ofRuns, formatCount(counts.seals, 'seal')];
    await print(terminal.out, `${printable(out)}: ${parts.join(', ')}\n`);
    const others = formatCount(counts.others, 'other cluster');
    const by = vouched === 0 ? '' : ` by ${[...new Set(vouchedBy.map(nameOf))].join(' to ')}`;
    const asked = partArguments(part);
    const notes = [
      `The run records are whole: they name ${others} too.`,
      `${vouched} of ${formatCount(all, 'object')} vouched for${by}.`,
      sealed === null && 'The archive is not sealed.',
      unsealedText(unsealed),
      vouched > 0 &&
        publicKey === undefined &&
        "Seals were checked with the archive's own key; --public-key takes one that you kept.",
      `Check it with: npm run collector -- verify --archive ${shellQuoted(out)} ${asked}`,
      `or, in its folder: python3 ${partReaderFile} . ${asked}`,
      `or by hand, as ${printable(join(out, partPageFile))} says, after: ${boundsOf(part)}`,
    ];
    for (const note of notes) if (typeof note === 'string') await print(terminal.err, `${note}\n`);
  });
}

/** What asks for a part, in both readers. */
function partArguments({ cluster, from, to }: Part): string {
  const bounds = [from && `--from ${from.toISOString()}`, to && `--to ${to.toISOString()}`];
  return ['--part', '--cluster', shellQuoted(cluster), ...bounds.filter((one) => one !== undefined)].join(' ');
}

/** The same for the commands of the page. The uid is as keys have it, without what a shell takes for something else. */
function boundsOf({ cluster, from, to }: Part): string {
  const bounds = [`CLUSTER=${encodeSegment(cluster)}`, from && `FROM=${stampOf(from)}`, to && `TO=${stampOf(to)}`];
  return bounds.filter((one) => one !== undefined).join(' ');
}

function nameOf({ number, seal }: CopiedPart['vouchedBy'][number]): string {
  return `seal ${number} of ${formatTime(seal)}`;
}

function unsealedText({ runs, since }: CopiedPart['unsealed']): string | undefined {
  if (since === undefined) return undefined;
  const are = `${formatCount(runs, 'run')} since ${formatTime(since)} ${runs === 1 ? 'is' : 'are'}`;
  return `${are} not sealed yet: export again after the next audit.`;
}

const helpText = `
The folder holds the cluster's objects, the run records of the period, their configurations, all seals and the key that
signed them, CHECK.md, which is docs/proof.md with the commands that check it by hand, and check_archive.py, which makes
these checks with Python and openssl alone. Nothing in the folder says what it should hold: who checks it says so, as the
last lines do. Run records are whole, because only whole
ones have the SHA-256 that is sealed: they name the other clusters too.

It ends at what the newest seal has: run records that are not sealed yet stay out, and so does what only they name.
Standard error says which seals vouch for the objects. Whoever gets the folder needs the public key, or the hashes of
mails, from somebody else than its sender.

Exit codes: 0 done, 1 something is damaged, or no seal vouches for an object: the folder is written all the same, 2
wrong command line, 3 it could not be done, or not all of the folder could be read back.

Examples:
  npm run collector -- export --archive s3://my-archive --cluster my-cluster --from 2026-11-01 --out my-cluster
  npm run collector -- verify --archive my-cluster --part --cluster my-cluster --from 2026-11-01 --public-key seals-public-key.pem
`;
