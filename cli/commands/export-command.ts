import { join } from 'node:path';
import { Command } from 'commander';
import { countDamage } from '../../lambda/verify/finding';
import { type Part, partPageFile } from '../../lambda/verify/part';
import type { Period } from '../../lambda/verify/run-keys';
import { verifyArchive } from '../../lambda/verify/verify-archive';
import { FolderArchiveReader } from '../archive/folder-archive-reader';
import { openArchive } from '../archive/open-archive';
import { copyPart } from '../export/copy-part';
import { formatCount, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type CommandContext, print, printJson } from '../terminal/terminal';
import { type CheckOptions, VouchedNotes, withPublicKeys } from './check-option';
import { type ReadOptions, withArchive, withHelp, withPeriod } from './options';

interface Options extends ReadOptions, Period, Pick<CheckOptions, 'publicKey'> {
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
  withHelp(withArchive(withPublicKeys(withPeriod(command, terminal))), terminal, helpText);
  return command.action(async ({ cluster, out, from, to, publicKey, archive, json }: Options) => {
    const reader = await openArchive(archive);
    const part: Part = { archive: reader.location, cluster, exportedAt: terminal.now().toISOString(), from, to };
    const copied = await copyPart(reader, part, out);
    const copy = new FolderArchiveReader(out);
    const { found, sound } = await verifyArchive(copy, {
      part,
      publicKeys: publicKey,
      now: terminal.now(),
      concurrency: 8,
      onFinding: () => undefined,
      onProgress: () => undefined,
    });
    const notes = new VouchedNotes(copy, { check: true, publicKey });
    let isVouched = true;
    for (const key of copied.objects) isVouched = (await notes.ofObject({ key }))?.seal !== undefined && isVouched;
    const isDamaged = countDamage(found) > 0;
    const { runs, records, seals, objects, others } = copied;
    if (json === true) {
      await printJson(terminal.out, { out, ...part, ...copied, sound, found, vouched: isVouched });
    } else {
      const ofRuns = `${formatCount(records, 'record')} of ${formatCount(runs, 'run')}`;
      const counts = [formatCount(objects.length, 'object'), ofRuns, formatCount(seals, 'seal')];
      const page = printable(join(out, partPageFile));
      const check = `npm run collector -- verify --archive ${shellQuoted(out)} --part`;
      await print(terminal.out, `${printable(out)}: ${counts.join(', ')}\n`);
      await print(terminal.err, `The run records are whole: they name ${formatCount(others, 'other cluster')} too.\n`);
      await notes.print(terminal);
      if (isDamaged) await print(terminal.err, `${terminal.errColors.red('Something in it is wrong.')}\n`);
      await print(terminal.err, `Check it with: ${check}\nor by hand, as ${page} says.\n`);
    }
    if (isDamaged || !isVouched) end('found');
  });
}

const helpText = `
The folder holds the cluster's objects, the run records of the period, their configurations, all seals and the key that
signed them, part.json, which says what it is, and CHECK.md, which has the commands of docs/proof.md for it. Run records
are whole, because only whole ones have the SHA-256 that is sealed: they name the other clusters too.

Standard error says which seals vouch for the objects. Whoever gets the folder needs the public key, or the hashes of
mails, from somebody else than its sender.

With --json: one object, with the keys of the objects.

Exit codes: 0 done, 1 something is damaged, or no seal vouches for an object: the folder is written all the same, 2
wrong command line, 3 it could not be done.

Examples:
  npm run collector -- export --archive s3://my-archive --cluster my-cluster --from 2026-11-01 --out my-cluster
  npm run collector -- verify --archive my-cluster --part --public-key seals-public-key.pem
`;
