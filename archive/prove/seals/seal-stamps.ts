import { X509Certificate } from 'node:crypto';
import { dayMs } from '../../format/clocks';
import type { Find } from '../../format/finding';
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

/** How much later than its seal a stamp is late, in milliseconds: each audit has its own seal stamped. */
const lateMs = dayMs;

/** How long after its seal a stamp may be made, in milliseconds, before a seal counts as not stamped. */
export const stampedWithinMs = 3 * dayMs;

/** Stamps read at once. */
const concurrency = 16;

/** The certificates that the plans of the chain name. */
function plannedRoots(seals: readonly Pick<Seal, 'plan'>[]): X509Certificate[] {
  const roots = new Set(seals.flatMap(({ plan }) => plan.timestamps ?? []).map(({ root }) => root));
  return [...roots].map((root) => new X509Certificate(Buffer.from(root, 'base64')));
}

/** Hashes the stamps that no seal names yet: the next one does. @throws ArchiveReadError */
export async function unsealedStamps(reader: ArchiveReader, { stamps, sealedStamps }: SealChain): Promise<Hashed[]> {
  const hashed: Hashed[] = [];
  const unnamed = stamps.filter((key) => !sealedStamps.has(key));
  for await (const { key, bytes } of mapConcurrently(unnamed, concurrency, (key) => readStamp(reader, key)))
    if (Buffer.isBuffer(bytes)) hashed.push({ key, sha256: sha256Of(bytes), bytes: bytes.length });
  return hashed;
}

/**
 * Reads stamps of an archive, and finds those that were replaced, or do not count.
 * @param trusted roots that the user trusts; left out: those that the seals' own plans name
 * @param keys left out: all
 * @returns those that count and lead to a trusted root, oldest seal first
 * @throws ArchiveReadError
 */
export async function readStamps(
  reader: ArchiveReader,
  chain: SealChain,
  trusted: readonly X509Certificate[] | undefined,
  find: Find,
  keys = chain.stamps,
): Promise<SealStamp[]> {
  const roots = [...(trusted ?? []), ...plannedRoots(chain.seals)];
  const byNumber = new Map(chain.all.map((seal) => [seal.number, seal]));
  const counting: SealStamp[] = [];
  for await (const { key, bytes } of mapConcurrently(keys, concurrency, (one) => readStamp(reader, one))) {
    const named = chain.sealedStamps.get(key);
    if (!Buffer.isBuffer(bytes)) find('seal-broken', key, bytes);
    else if (named !== undefined && sha256Of(bytes) !== named.sha256)
      find('forged', key, problems.replacedFile(named.by.number));
    else {
      const { number, authority } = parseSealStampKey(key) ?? { number: 0, authority: '' };
      const stamp = judgeStamp(bytes, byNumber.get(number), roots);
      if (typeof stamp === 'string') find('seal-broken', key, stamp);
      else if (trusted?.some(({ fingerprint256 }) => fingerprint256 === stamp.root.fingerprint256) !== false)
        counting.push({ number, authority, time: stamp.time.toISOString(), root: nameOf(stamp.root) });
    }
  }
  return counting;
}

/** Finds the stamps that seals name and that are not there. */
export function findLostStamps({ stamps, sealedStamps }: SealChain, find: Find): void {
  const there = new Set(stamps);
  for (const [key, { by }] of sealedStamps)
    if (!there.has(key)) find('missing', key, problems.goneSinceSealed(by.number));
}

/** The seals of the chain whose first stamp is later than a day: written later than they say shows as this. */
export function lateStamps({ seals }: Pick<SealChain, 'seals'>, stamps: readonly SealStamp[]) {
  return seals.flatMap(({ number, listedFrom }) => {
    const [first] = stamps.filter((one) => one.number === number).sort((a, b) => (a.time < b.time ? -1 : 1));
    return first !== undefined && Date.parse(first.time) - Date.parse(listedFrom) > lateMs
      ? [{ ...first, listedFrom }]
      : [];
  });
}

/**
 * Finds the seals of the chain that nobody but their signer says existed within three days of their own time.
 * @param since seals from this time on have to be stamped
 */
export function findUnstamped(
  { seals }: Pick<SealChain, 'seals'>,
  stamps: readonly SealStamp[],
  { since, now }: { readonly since: Date | undefined; readonly now: Date },
  find: Find,
): void {
  let covered = Number.POSITIVE_INFINITY;
  const unstamped: RightSeal[] = [];
  for (const seal of seals.toReversed()) {
    for (const { number, time } of stamps) if (number === seal.number) covered = Math.min(covered, Date.parse(time));
    const listed = Date.parse(seal.listedFrom);
    if (listed < (since?.getTime() ?? 0)) break;
    if (Math.min(covered, now.getTime()) > listed + stampedWithinMs) unstamped.unshift(seal);
  }
  const [first, last] = [unstamped[0], unstamped.at(-1)];
  if (first === undefined || last === undefined) return;
  const others = first === last ? '' : `; nor of ${unstamped.length - 1} later ones up to seal ${last.number}`;
  const problem = `none of the authorities that you trust says within three days of its time that it existed${others}`;
  find('seal-broken', sealKey(first.number), problem);
}

/** @returns the stamp, or why it does not count */
function judgeStamp(bytes: Buffer, seal: RightSeal | undefined, roots: readonly X509Certificate[]) {
  if (seal === undefined) return 'it stamps a seal that is not right, or not there';
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
