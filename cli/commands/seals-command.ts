import { createPublicKey } from 'node:crypto';
import { Command, Option } from 'commander';
import type { Find, Finding } from '../../archive/format/finding';
import { acknowledgedBy, openDamage, type RightSeal, readChain, type SealChain } from '../../archive/prove';
import { ArchiveReadError } from '../../archive/read';
import { openArchiveNow } from '../archive/open-archive';
import { formatCounts, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import { type ReadOptions, withArchive, withHelp, withLast } from './options';
import { printRemarks } from './print-findings';
import { describeStamp, newestStamps, printOpenFindings } from './print-health';

interface Options extends ReadOptions {
  readonly publicKey?: boolean;
  readonly last?: number;
}

const defaultSeals = 20;

/** `seals`: the chain of seals, or the key that signed it. */
export function sealsCommand({ terminal, end }: CommandContext): Command {
  const keys = new Option('--public-key', 'print the public key that signed them, as PEM, instead of the list');
  const command = new Command('seals')
    .summary('the seals, or their public key')
    .description(
      'Lists the last seals, oldest first, and checks that their chain is whole. It reads nothing that they seal.',
    )
    .addOption(keys.conflicts(['json', 'last']));
  withLast(command, 'seals', `${defaultSeals}`);
  withHelp(withArchive(command, 'an array, an element per seal'), terminal, helpText);
  return command.action(async ({ archive, json, publicKey, last = defaultSeals }: Options) => {
    const { archive: reader } = await openArchiveNow(archive, terminal);
    const findings: Finding[] = [];
    const find: Find = (kind, key, problem) => findings.push({ kind, key, problem });
    const chain = await readChain(reader, {}, find);
    const seals = chain.all.slice(-last);
    const newest = chain.head && { ...chain.head, ...chain.state };
    if (publicKey === true) await printPublicKeys(terminal, chain, reader.location);
    else if (json === true) {
      // What a seal names are thousands of hashes.
      const counted = seals.map((seal) => ({ ...seal, records: seal.records.length, objects: seal.objects.length }));
      await printJsonArray(terminal.out, counted);
    } else {
      await printTable(terminal, sealColumns(terminal), seals);
      if (newest !== undefined) await printOpenFindings(terminal, newest);
      for (const stamp of await newestStamps(reader, chain, find))
        await print(terminal.out, `${describeStamp(stamp)}\n`);
    }
    if (publicKey !== true && chain.files === 0)
      await print(terminal.err, `No seals in ${printable(reader.location)}: nothing attests it.\n`);
    const reasonOf = acknowledgedBy(newest?.plan ?? {});
    const remarks = findings.map((one) => ({ ...one, acknowledged: reasonOf(one) }));
    if (newest !== undefined && openDamage(newest).count > 0) end('found');
    end(await printRemarks(terminal, remarks));
  });
}

/** @throws ArchiveReadError if there is none */
async function printPublicKeys(terminal: Terminal, { signed }: SealChain, location: string): Promise<void> {
  if (signed.length === 0)
    throw new ArchiveReadError(
      `Reading the public key of ${location} failed: it has no signed seal; the audit of the stack makes them`,
    );
  for (const spki of new Set(signed.map(({ publicKey }) => publicKey))) {
    const [first, ...others] = signed.flatMap(({ publicKey, number }) => (publicKey === spki ? number : []));
    const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
    await print(terminal.out, key.export({ format: 'pem', type: 'spki' }));
    const which = others.length === 0 ? `seal ${first}` : `${others.length + 1} seals, the first of them ${first}`;
    await print(terminal.err, `This key signed ${which}. Keep it outside the account.\n`);
  }
}

function sealColumns({ colors }: Pick<Terminal, 'colors'>): Column<RightSeal>[] {
  return [
    { head: 'Seal', cell: ({ number }) => `${number}`, align: 'right' },
    { head: 'Time', cell: ({ seal }) => formatTime(seal) },
    { head: 'Run records', cell: ({ records }) => `${records.length}`, align: 'right', leftOut: 4 },
    { head: 'Runs due', cell: ({ due }) => `${due.runs}`, align: 'right', leftOut: 2 },
    { head: 'Absent', cell: ({ due }) => `${due.absent.length}`, align: 'right', leftOut: 3 },
    { head: 'Objects read', cell: ({ verified }) => `${verified.objects}`, align: 'right', leftOut: 1 },
    { head: 'Found', cell: ({ found }) => formatCounts(found), wraps: true, narrowest: 7 },
    {
      head: 'Open',
      cell: ({ open: { damage, ...others } }) => formatCounts({ damaged: damage, ...others }),
      wraps: true,
      narrowest: 7,
    },
    {
      head: 'Chain',
      cell: ({ isChained }) => (isChained ? 'in it' : 'beside'),
      color: (text, { isChained }) => (isChained ? colors.green(text) : colors.red(text)),
    },
    // Whole: it is what the mail says, and what --head takes.
    { head: 'SHA-256', cell: ({ sha256 }) => sha256, wraps: true, narrowest: 16, leftOut: 5 },
  ];
}

const helpText = `
The list shows what each audit read and found. Below it stands what is open by the newest seal, and since which audit. "verify" compares the
archive with its seals. Keep the key outside the account from the first day on: whoever can write the archive can replace the key in it.

Exit codes: 0 done, 1 the chain is broken or damage is open, 2 wrong command line, 3 it could not be done, or not
everything could be checked.

Examples:
  npm run collector -- seals --archive s3://my-archive
  npm run --silent collector -- seals --archive s3://my-archive --public-key > seals-public-key.pem
  npm run --silent collector -- seals --json | jq -r '.[-1].sha256'
`;
