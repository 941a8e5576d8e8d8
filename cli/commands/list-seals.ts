import { createPublicKey } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { Find, Finding } from '../../archive/format/finding';
import { acknowledgedBy, openDamage, type RightSeal, readChain, type SealChain } from '../../archive/prove';
import { ArchiveReadError } from '../../archive/read';
import { openArchiveNow } from '../archive/open-archive';
import { formatCounts, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type Column, printTable } from '../terminal/table';
import { type CommandContext, print, printJsonArray, type Terminal } from '../terminal/terminal';
import { type ReadOptions, withLast } from './options';
import { printRemarks } from './print-findings';
import { describeStamp, newestStamps, printOpenFindings } from './print-health';

export interface SealOptions {
  /** Lists them. */
  readonly seals?: boolean;
  /** Prints the keys that signed them. */
  readonly printKeys?: boolean;
  /** So many, the newest. */
  readonly last?: number;
}

const defaultSeals = 20;

/** Adds what `verify` says of the seals alone. */
export function withSeals(command: Command, others: string[]): Command {
  const list = new Option('--seals', 'list the seals, and check their chain; nothing that they seal is read');
  const keys = new Option('--print-keys', 'print the public keys that signed them, as PEM');
  return withLast(
    command.addOption(list.conflicts(others)).addOption(keys.conflicts(['json', 'last', 'seals', ...others])),
    'seals, with --seals',
    `${defaultSeals}`,
  );
}

/** `verify --seals`: the chain of seals; `verify --print-keys`: the keys that signed it. */
export async function printSeals(
  { terminal, end }: CommandContext,
  { archive, json, printKeys, last = defaultSeals }: ReadOptions & SealOptions,
): Promise<void> {
  const { archive: reader } = await openArchiveNow(archive, terminal);
  const findings: Finding[] = [];
  const find: Find = (kind, key, problem) => findings.push({ kind, key, problem });
  const chain = await readChain(reader, {}, find);
  const seals = chain.all.slice(-last);
  const newest = chain.head && { ...chain.head, ...chain.state };
  if (printKeys === true) await printPublicKeys(terminal, chain, reader.location);
  else if (json === true) {
    // What a seal names are thousands of hashes.
    const counted = seals.map((seal) => ({ ...seal, records: seal.records.length, objects: seal.objects.length }));
    await printJsonArray(terminal.out, counted);
  } else {
    await printTable(terminal, sealColumns(terminal), seals);
    if (newest !== undefined) await printOpenFindings(terminal, newest);
    for (const stamp of await newestStamps(reader, chain, find)) await print(terminal.out, `${describeStamp(stamp)}\n`);
  }
  if (printKeys !== true && chain.files === 0)
    await print(terminal.err, `No seals in ${printable(reader.location)}: nothing attests it.\n`);
  const reasonOf = acknowledgedBy(newest?.plan ?? {});
  const remarks = findings.map((one) => ({ ...one, acknowledged: reasonOf(one) }));
  if (newest !== undefined && openDamage(newest).count > 0) end('found');
  end(await printRemarks(terminal, remarks));
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
