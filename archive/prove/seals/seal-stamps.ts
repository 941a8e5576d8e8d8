import { X509Certificate } from 'node:crypto';
import { clockSlackMs, lateStampMs, listedBeforeMs, listedWithinMs, stampedWithinMs } from '../../format/clocks';
import type { Find, Finding } from '../../format/finding';
import { parseSealStampKey, sealKey } from '../../format/keys';
import { problems } from '../../format/problems';
import type { Hashed, Seal } from '../../format/seal';
import { sha256Of } from '../../format/seal-file';
import type { ArchiveReader } from '../../read/archive-reader';
import { mapConcurrently } from '../../read/map-concurrently';
import { readWhole } from '../../read/read-whole';
import { checkStamp, StampError } from '../stamps/check-stamp';
import { orWhy } from './read-seals';
import type { RightSeal, SealChain } from './seal-chain';

/** A stamp that counts: the seal, and everything before it in the chain, existed before this time. */
export interface SealStamp {
  /** Number of the seal. */
  readonly number: number;
  readonly authority: string;
  /** ISO 8601, in UTC. */
  readonly time: string;
  /** Subject of the root that its certificate leads to. */
  readonly root: string;
}

/** Longest answer of an authority that is stored or read, in bytes. */
const mostStampBytes = 64 * 1024;

/** Stamps read at once. */
const concurrency = 16;

/** The certificates that the plans of the chain name. */
function plannedRoots(seals: readonly Pick<Seal, 'plan'>[]): X509Certificate[] {
  const roots = new Set(seals.flatMap(({ plan }) => plan.timestamps ?? []).map(({ root }) => root));
  return [...roots].map((root) => new X509Certificate(Buffer.from(root, 'base64')));
}

/** What stamps say that were read. */
export interface ReadStamps {
  /** Those that count and lead to a trusted root, oldest seal first. */
  readonly counting: SealStamp[];
  /** Of those that count, also to a root that only a plan names, the hash of the stored file. */
  readonly hashed: Hashed[];
  readonly findings: Finding[];
}

/**
 * Judges stamps of an archive: those that were replaced, or do not count, are findings.
 * @param trusted roots that the user trusts; left out: those that the seals' own plans name
 * @param keys left out: all
 * @throws ArchiveReadError
 */
export async function readStamps(
  reader: ArchiveReader,
  chain: SealChain,
  trusted?: readonly X509Certificate[],
  keys: Iterable<string> = chain.stamps.keys(),
): Promise<ReadStamps> {
  const planned = plannedRoots(chain.seals);
  const byNumber = new Map(chain.all.map((seal) => [seal.number, seal]));
  const read: ReadStamps = { counting: [], hashed: [], findings: [] };
  const find = (kind: Finding['kind'], key: string, problem: string) => read.findings.push({ kind, key, problem });
  const wanted: string[] = [];
  for (const key of keys)
    if (chain.sealedStamps.has(key) || byNumber.has(parseSealStampKey(key)?.number ?? 0)) wanted.push(key);
    else find('seal-broken', key, problems.stampOfNothing);
  for await (const { key, bytes } of mapConcurrently(wanted, concurrency, (one) => readStamp(reader, one))) {
    const named = chain.sealedStamps.get(key);
    if (!Buffer.isBuffer(bytes)) find('seal-broken', key, bytes);
    else if (named !== undefined && sha256Of(bytes) !== named.sha256)
      find('forged', key, problems.replacedFile(named.by.number));
    else {
      const { number, authority } = parseSealStampKey(key) ?? { number: 0, authority: '' };
      const seal = byNumber.get(number);
      // By themselves: a planned root may stand below one that the user trusts, and would be found first.
      const known = trusted && judgeStamp(bytes, seal, trusted);
      const isTrusted = known !== undefined && typeof known !== 'string';
      const stamp = isTrusted ? known : judgeStamp(bytes, seal, planned);
      if (typeof stamp === 'string') find('seal-broken', key, stamp);
      else {
        read.hashed.push({ key, sha256: sha256Of(bytes), bytes: bytes.length });
        if (trusted === undefined || isTrusted)
          read.counting.push({ number, authority, time: stamp.time.toISOString(), root: nameOf(stamp.root) });
      }
    }
  }
  return read;
}

/** Stamps that one audit reads: so many have no seal yet only if somebody put them there. */
const mostRead = 1000;

/**
 * Judges what an audit has to see of stamps: those that no seal names yet, and those that S3 wrote anew after they were listed
 * for the seal that names them. The others were right when they were sealed.
 * @throws ArchiveReadError
 */
export async function readNewStamps(reader: ArchiveReader, chain: SealChain): Promise<ReadStamps> {
  const isNew = ([key, writtenAt]: readonly [string, Date]) => {
    const named = chain.sealedStamps.get(key);
    return named === undefined || writtenAt > new Date(named.by.listedFrom);
  };
  const planned = new Set(chain.seals.flatMap(({ plan }) => plan.timestamps ?? []).map(({ name }) => name));
  const isPlanned = (key: string) => planned.has(parseSealStampKey(key)?.authority ?? '');
  const keys = [...chain.stamps].filter(isNew).map(([key]) => key);
  // What nobody asked for comes last: it must not hide the others.
  const inOrder = [...keys.filter(isPlanned), ...keys.filter((key) => !isPlanned(key))];
  const read = await readStamps(reader, chain, undefined, inOrder.slice(0, mostRead));
  const [unread] = inOrder.slice(mostRead);
  if (unread !== undefined)
    read.findings.push({ kind: 'unreadable', key: unread, problem: problems.stampsNotRead(keys.length - mostRead) });
  return read;
}

/** Finds the stamps that seals name and that are not there. */
export function findLostStamps({ stamps, sealedStamps }: SealChain, find: Find): void {
  for (const [key, { by }] of sealedStamps)
    if (!stamps.has(key)) find('missing', key, problems.goneSinceSealed(by.number));
}

/** The seals of the chain whose first stamp is later than a day: written later than they say shows as this. */
export function lateStamps({ seals }: Pick<SealChain, 'seals'>, stamps: readonly SealStamp[]) {
  return seals.flatMap(({ number, listedFrom }) => {
    const [first] = stamps.filter((one) => one.number === number).sort((a, b) => (a.time < b.time ? -1 : 1));
    return first !== undefined && Date.parse(first.time) - Date.parse(listedFrom) > lateStampMs
      ? [{ ...first, listedFrom }]
      : [];
  });
}

/**
 * Finds the seals of the chain that nobody but their signer says existed within three days of their own times. Each is judged by
 * itself: what the seals above it say of theirs excuses nothing.
 * @param since seals from this time on have to be stamped
 */
export function unstampedFindings(
  { seals }: Pick<SealChain, 'seals'>,
  stamps: readonly SealStamp[],
  { since, now }: { readonly since: Date | undefined; readonly now: Date },
): Finding[] {
  const unstamped: RightSeal[] = [];
  for (const { seal, coveredAt } of coveredSeals(seals, stamps)) {
    const listed = Date.parse(seal.listedFrom);
    const isDue = listed >= (since?.getTime() ?? 0);
    if (isDue && Math.min(coveredAt, now.getTime()) > listed + stampedWithinMs) unstamped.unshift(seal);
  }
  const [first, last] = [unstamped[0], unstamped.at(-1)];
  if (first === undefined || last === undefined) return [];
  const others = first === last ? '' : `; nor of ${unstamped.length - 1} later ones up to seal ${last.number}`;
  const problem = `none of the authorities that you trust says within three days of its time that it existed${others}`;
  return [{ kind: 'seal-broken', key: sealKey(first.number), problem }];
}

/** The seals of a chain, the newest first, with the earliest time in milliseconds at which a stamp says that it existed. */
function* coveredSeals(seals: readonly RightSeal[], stamps: readonly SealStamp[]) {
  let coveredAt = Number.POSITIVE_INFINITY;
  for (const seal of seals.toReversed()) {
    for (const { number, time } of stamps)
      if (number === seal.number) coveredAt = Math.min(coveredAt, Date.parse(time));
    yield { seal, coveredAt };
  }
}

/**
 * Finds the seals whose times cannot be: they decide what had to be in a seal, and when it had to be stamped.
 * @param now by the archive's clock
 */
export function impossibleTimes(
  { seals }: Pick<SealChain, 'seals'>,
  stamps: readonly SealStamp[],
  now: Date,
): Finding[] {
  const findings: Finding[] = [];
  const after = new Map([...coveredSeals(seals, stamps)].map(({ seal, coveredAt }) => [seal.number, coveredAt]));
  for (const [at, { number, seal, listedFrom }] of seals.entries()) {
    const [before, listed, named] = [seals[at - 1], Date.parse(listedFrom), Date.parse(seal)];
    const latest = Math.max(listed, named);
    const find = (problem: string) => findings.push({ kind: 'seal-broken', key: sealKey(number), problem });
    if (before !== undefined && listedFrom < before.listedFrom)
      find(problems.listedBeforeSeal(listedFrom, before.number));
    if (listed < named - listedBeforeMs || listed > named + listedWithinMs)
      find(problems.listedFarAway(seal, listedFrom));
    if (latest > now.getTime() + clockSlackMs) find(problems.sealInFuture);
    else if (latest > (after.get(number) ?? Number.POSITIVE_INFINITY) + clockSlackMs) find(problems.sealAfterStamp);
  }
  return findings;
}

/** @returns the stamp, or why it does not count */
function judgeStamp(bytes: Buffer, seal: RightSeal | undefined, roots: readonly X509Certificate[]) {
  if (seal === undefined) return problems.stampOfNothing;
  try {
    return checkStamp(bytes, { sha256: Buffer.from(seal.sha256, 'hex'), roots });
  } catch (error) {
    if (!(error instanceof StampError)) throw error;
    return `it does not count as a time stamp of seal ${seal.number}: ${error.message}`;
  }
}

/** @returns its bytes, or what is wrong with it. @throws ArchiveReadError if it can be read another time */
async function readStamp(reader: ArchiveReader, key: string): Promise<{ key: string; bytes: Buffer | string }> {
  const found = await orWhy(() => readWhole(reader, key, mostStampBytes));
  return { key, bytes: typeof found === 'string' ? found : (found?.bytes ?? problems.goneSinceListed) };
}

function nameOf({ subject }: X509Certificate): string {
  return subject.replaceAll('\n', ', ');
}
