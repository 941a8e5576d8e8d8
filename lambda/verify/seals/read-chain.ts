import { parseSealKey, runsPrefix, sealKey, sealsPrefix } from '../../archive/archive-layout';
import { CronError } from '../../schedule/cron';
import { firingsOfSchedule } from '../../schedule/firings';
import { type ArchiveReader, VersionsDeniedError } from '../archive-reader';
import { dueIn } from '../due-runs';
import type { Find } from '../finding';
import { mapConcurrently } from '../map-concurrently';
import type { Period } from '../run-keys';
import type { Seal } from './seal';
import { type ChainOptions, type RightSeal, SealChain, type SignedFile } from './seal-chain';
import { listSeals, readSealFile } from './seal-file';

/** The key of what a first seal finds that should not be the first: it is about all runs that no seal attests. */
export const earlierRuns = `${runsPrefix}*`;

/** Seals read at once: each may take 64 MB. */
const concurrency = 4;

/**
 * Reads every seal, and finds what is not right and what breaks the chain.
 * @throws ArchiveReadError if the archive, or one seal for a passing reason, cannot be read
 */
export async function readChain(reader: ArchiveReader, options: ChainOptions, find: Find): Promise<SealChain> {
  const chain = new SealChain(options, find);
  const numbers = await listSeals(reader, find);
  for await (const file of mapConcurrently(numbers, concurrency, (number) => readSealFile(reader, number)))
    chain.add(file);
  await findReplaced(reader, find);
  findUnknownKeys(chain, options.publicKeys !== undefined, find);
  followHead(chain, find);
  // Whether seals were there before the first, only those seals can say.
  const first = chain.newest.open.find(({ key }) => key === earlierRuns);
  if (first !== undefined && chain.all[0] === chain.seals[0]) find('seal-broken', first.key, first.problem);
  return chain;
}

async function findReplaced(reader: ArchiveReader, find: Find): Promise<void> {
  try {
    for (const { key, at } of (await reader.replaced?.(sealsPrefix)) ?? [])
      find('seal-broken', key, `it was deleted or overwritten; the version before is of ${at.toISOString()}`);
  } catch (error) {
    if (!(error instanceof VersionsDeniedError)) throw error;
    const problem = `not checked whether seals were deleted or overwritten; it takes s3:ListBucketVersions. ${error.message}`;
    find('unreadable', `${sealsPrefix}*`, problem);
  }
}

/** One unknown key is one finding, however many seals in a row it signed. */
function findUnknownKeys({ signed }: SealChain, areKeysGiven: boolean, find: Find): void {
  const problem = areKeysGiven
    ? 'signed with a key that is none of those given; if the key was replaced on purpose, give the former one too: ' +
      'verify takes it as --public-key, the audit as audit.formerPublicKeys'
    : 'signed with another key than the seals before; if that is right, name all keys with --public-key';
  const unknown = ({ isTrusted, publicKey }: SignedFile) => (isTrusted ? undefined : publicKey);
  findRows(find, signed, unknown, 'it', problem);
}

/** Goes from the head along the hashes, and finds a link that is not there and right seals that no link leads to. */
function followHead(chain: SealChain, find: Find): void {
  const { all, head, passedOver } = chain;
  const byNumber = new Map(all.map((seal) => [seal.number, seal]));
  // What comes before a link that is not there is cut off, which is said with that link.
  let cutOff = 0;
  for (let seal = head; seal !== undefined; ) {
    seal.isChained = true;
    const link = linkOf(seal, find);
    const before = link && byNumber.get(link.number);
    const isThere = before?.sha256 === link?.sha256;
    if (link !== undefined && !isThere) {
      cutOff = link.number;
      const problem = `seal ${seal.number} names it as the one before it, and it is not there; what seals before it claim does not count`;
      // What is wrong with a file that is there is said already.
      if (!passedOver.has(cutOff)) find('seal-broken', sealKey(cutOff), problem);
    }
    seal = isThere ? before : undefined;
  }
  const beside = ({ isChained, number }: RightSeal) => (!isChained && number >= cutOff ? 'beside' : undefined);
  const problem = 'right, and no later seal leads there: the chain was forked or rolled back';
  findRows(find, all, beside, 'its signature', problem);
  chain.seals = all.filter(({ isChained }) => isChained);
}

/** The seal before one, as it says; undefined if it is the first. */
function linkOf({ number, key, previous, passedOver, passedOverMore }: RightSeal, find: Find) {
  const before = previous === null ? 0 : (parseSealKey(previous.key) ?? number);
  const isListed = passedOver.every((one, at) => one.number === before + 1 + at);
  if (!isListed || before + passedOver.length + passedOverMore + 1 !== number)
    find('seal-broken', key, 'it does not name the seal before it and everything between');
  return previous === null ? undefined : { number: Math.min(before, number - 1), sha256: previous.sha256 };
}

/**
 * Makes one finding of files one after the other that have the same name: it may be a whole chain.
 * @param nameOf undefined: nothing is wrong with it
 */
function findRows<File extends { readonly number: number }>(
  find: Find,
  files: readonly File[],
  nameOf: (file: File) => string | undefined,
  what: string,
  problem: string,
): void {
  const rows: { readonly name: string | undefined; readonly first: number; last: number }[] = [];
  for (const file of files) {
    const [name, row] = [nameOf(file), rows.at(-1)];
    if (row !== undefined && row.name === name) row.last = file.number;
    else rows.push({ name, first: file.number, last: file.number });
  }
  for (const { name, first, last } of rows) {
    const which = first === last ? `${what} is` : `${what} and those up to number ${last} are`;
    if (name !== undefined) find('seal-broken', sealKey(first), `${which} ${problem}`);
  }
}

/** A seal, or the audit that is about to make one. */
type PlannedSeal = Pick<Seal, 'seal' | 'listedFrom'> & { readonly plan: Pick<Seal['plan'], 'auditSchedule'> };

/**
 * Finds firings of the audit that no seal of the chain is of: the audit failed, or its seal was removed. While the plan
 * changed, only what both plans have was due for sure.
 * @param seals of a chain, in order
 * @param settled only what was due up to this time is judged: an audit may be under way
 */
export function findAbsentSeals(
  find: Find,
  seals: readonly PlannedSeal[],
  { from = new Date(0), to }: Period,
  settled: Date,
): void {
  const until = to === undefined || to > settled ? settled : to;
  const times = new Set(seals.map(({ seal }) => Date.parse(seal)));
  try {
    const absent = seals.flatMap(({ listedFrom, plan }, at) => {
      const next = seals[at + 1] ?? { plan, listedFrom: until };
      const schedules = [plan, next.plan].map((one) => firingsOfSchedule(one.auditSchedule));
      const began = new Date(Math.max(Date.parse(listedFrom), from.getTime()) + 1);
      const end = new Date(Math.min(until.getTime(), new Date(next.listedFrom).getTime()));
      return dueIn(schedules, { from: began, to: end }, times).times;
    });
    const [first, last] = [absent[0]?.toISOString(), absent.at(-1)?.toISOString()];
    const which = first === last ? `seal of ${first}` : `${absent.length} seals from ${first} to ${last}`;
    if (first !== undefined) find('absent', `${sealsPrefix}*`, `${which}: never made, or removed`);
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    find('unreadable', `${sealsPrefix}*`, error.message);
  }
}
