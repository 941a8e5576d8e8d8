import type { Find } from '../../format/finding';
import {
  parseSealKey,
  parseSealStateKey,
  runsPrefix,
  sealKey,
  sealStateKey,
  sealStatesPrefix,
  sealsPrefix,
} from '../../format/keys';
import { parsePublicKey } from '../../format/seal-file';
import { ArchiveReadError, type ArchiveReader } from '../../read/archive-reader';
import { mapConcurrently } from '../../read/map-concurrently';
import { listSeals, readSealFile } from './read-seals';
import { readState } from './read-state';
import { type ChainOptions, type RightSeal, SealChain, type SignedFile } from './seal-chain';
import { findLostStamps } from './seal-stamps';

/** The key of what a first seal finds that should not be the first: it is about all runs that no seal attests. */
export const earlierRuns = `${runsPrefix}*`;

/** Seals read at once. */
const concurrency = 16;

/**
 * Reads every seal, and finds what is not right and what breaks the chain. Of the states it reads the newest.
 * @throws ArchiveReadError if the archive, or one seal for a passing reason, cannot be read
 */
export async function readChain(reader: ArchiveReader, options: ChainOptions, find: Find): Promise<SealChain> {
  const chain = new SealChain(options, find);
  const { numbers, states, stamps } = await listSeals(reader, find);
  chain.stamps = stamps;
  for await (const file of mapConcurrently(numbers, concurrency, (number) => readSealFile(reader, number)))
    chain.add(file);
  await findReplaced(reader, find);
  findUnknownKeys(chain, options.publicKeys !== undefined, find);
  followHead(chain, find);
  findLostStamps(chain, find);
  await takeState(reader, chain, states, find);
  // Whether seals were there before the first, only those seals can say.
  const first = chain.state.open.first.find(({ key }) => key === earlierRuns);
  if (first !== undefined && chain.all[0] === chain.seals[0]) find('seal-broken', first.key, first.problem);
  return chain;
}

/**
 * Reads the newest right seal and its state, and of the other seals only those with a higher number: whether all of them are
 * one chain is for `verify` to say.
 * @throws ArchiveReadError
 */
export async function readHead(reader: ArchiveReader, options: ChainOptions, find: Find): Promise<SealChain> {
  const { numbers, states } = await listSeals(reader, find);
  const publicKeys = options.publicKeys ?? (await firstKey(reader, numbers));
  const chain = new SealChain({ ...options, publicKeys }, find);
  for (const number of numbers.toReversed()) {
    chain.add(await readSealFile(reader, number));
    if (chain.head !== undefined) break;
  }
  chain.seals = chain.all;
  await takeState(reader, chain, states, find);
  return chain;
}

/** The key that signed the first file that has a signature. */
async function firstKey(reader: ArchiveReader, numbers: readonly number[]): Promise<ChainOptions['publicKeys']> {
  for (const number of numbers) {
    const key = parsePublicKey((await readSealFile(reader, number)).signed?.publicKey ?? '');
    if (key !== undefined) return [key];
  }
  return undefined;
}

/**
 * Reads the state of the head. If it is not what the head names, the newest of the chain that is right takes its place.
 * @param listed SHA-256 of the states that are there
 */
async function takeState(
  reader: ArchiveReader,
  chain: SealChain,
  listed: ReadonlySet<string>,
  find: Find,
): Promise<void> {
  const { head } = chain;
  const lost = head && (await stateProblem(reader, chain, head));
  for (const seal of chain.seals.toReversed()) {
    if (chain.stateOf !== undefined) break;
    if (seal !== head && listed.has(seal.state)) await stateProblem(reader, chain, seal);
  }
  if (head !== undefined && lost !== undefined)
    find('seal-broken', sealStateKey(head.state), lostState(lost, head, chain));
  // A state that was lost once stays so, whatever the seals behind it have, until it is there again.
  for (const { kind, key, problem } of chain.state.open.first) {
    const sha256 = kind === 'seal-broken' ? parseSealStateKey(key) : undefined;
    if (sha256 === undefined || sha256 === head?.state) continue;
    if (!listed.has(sha256) || typeof (await readState(reader, sha256)) === 'string') find('seal-broken', key, problem);
  }
}

/** Makes the state of a seal that of the chain. @returns why it cannot be; undefined: it is */
async function stateProblem(reader: ArchiveReader, chain: SealChain, seal: RightSeal): Promise<string | undefined> {
  const state = await readState(reader, seal.state);
  if (typeof state === 'string') return state;
  chain.state = state;
  chain.stateOf = seal;
  return undefined;
}

function lostState(why: string, { number, open }: RightSeal, { stateOf }: SealChain): string {
  const counts = [open.damage, open.acknowledged, open.unreadable].reduce((sum, one) => sum + one, 0);
  const from =
    stateOf === undefined ? 'all of the archive is read again' : `all since seal ${stateOf.number} is judged again`;
  return `the state of seal ${number}: ${why}; open findings that may be lost: ${counts}; ${from}`;
}

async function findReplaced(reader: ArchiveReader, find: Find): Promise<void> {
  try {
    // Of the states only the newest is needed, and its hash is in a seal.
    for (const { key, at } of (await reader.replaced?.(sealsPrefix)) ?? [])
      if (!key.startsWith(sealStatesPrefix))
        find('seal-broken', key, `it was deleted or overwritten; the version before is of ${at.toISOString()}`);
  } catch (error) {
    if (!(error instanceof ArchiveReadError) || !error.isLasting) throw error;
    const problem = `not checked whether seals were deleted or overwritten; it takes s3:ListBucketVersions. ${error.message}`;
    find('unreadable', `${sealsPrefix}*`, problem);
  }
}

/** One unknown key is one finding, however many seals in a row it signed. */
function findUnknownKeys({ signed }: SealChain, areKeysGiven: boolean, find: Find): void {
  const problem = areKeysGiven
    ? 'signed with a key other than those given; if the key was replaced on purpose, give the former one too: ' +
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
function linkOf({ number, key, previous, passedOver }: RightSeal, find: Find) {
  const before = previous === null ? 0 : (parseSealKey(previous.key) ?? number);
  const isListed = passedOver.first.every((one, at) => one.number === before + 1 + at);
  if (!isListed || before + passedOver.count + 1 !== number)
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
