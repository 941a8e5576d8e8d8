import { createHash } from 'node:crypto';
import { parseObjectKey, parseRunRecordKey } from '../archive/archive-layout';
import { largestRecordBytes } from '../run/run-record';
import type { AuditPlan } from '../stack-contract';
import type { ArchiveReader } from '../verify/archive-reader';
import { checkObject } from '../verify/check-object';
import type { Find } from '../verify/finding';
import { DamagedObjectError } from '../verify/open-content';
import { readWhole } from '../verify/read-whole';
import { type Hashed, largestSealBytes } from '../verify/seals/seal';
import type { ChainedSeal, SealChain } from '../verify/seals/seal-chain';
import { parseSeal } from '../verify/seals/seal-files';
import { clockSlackMs, dayMs } from '../verify/time-limits';

export interface ConfirmContext {
  readonly reader: ArchiveReader;
  readonly chain: SealChain;
  readonly plan: AuditPlan;
  readonly now: Date;
  readonly find: Find;
}

/**
 * Compares a seal without a signature with the archive, record by record: nobody knows who wrote it.
 * @returns the bytes of its file, to be signed; undefined if they must not be
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function confirmSeal(last: ChainedSeal, context: ConfirmContext): Promise<Buffer | undefined> {
  const { reader, now, find } = context;
  const file = await readWhole(reader, last.key, largestSealBytes);
  if (file === undefined || sha256Of(file.bytes) !== last.sha256) return undefined;
  // From the bytes that are signed: another reading may give others.
  const seal = parseSeal(file.bytes.toString('utf8'));
  if (typeof seal === 'string') return undefined;
  const claim = doubtfulClaim(last, context);
  if (claim !== undefined) {
    find('seal-broken', last.key, `it has no signature, and ${claim}; it is not signed`);
    return undefined;
  }
  for (const hashed of [...seal.records, ...seal.objects]) {
    const sha256 = await hashOf(reader, hashed);
    if (sha256 === hashed.sha256 || (sha256 === undefined && isExpired(hashed, last, now))) continue;
    find('seal-broken', last.key, `it has no signature, and ${hashed.key} is not what it says; it is not signed`);
    return undefined;
  }
  return file.bytes;
}

/** What the archive cannot confirm, and would excuse later damage; undefined: nothing of it is too much. */
function doubtfulClaim(
  { number, listedFrom, cursor, plan: { retentionDays = Number.POSITIVE_INFINITY } }: ChainedSeal,
  { chain, plan, now }: ConfirmContext,
): string | undefined {
  const plans = chain.seals.flatMap((seal) => (seal.signature === 'right' ? seal.plan : []));
  const known = [plan, ...plans].map((one) => one.retentionDays ?? Number.POSITIVE_INFINITY);
  if (retentionDays < Math.min(...known)) return 'its retention is shorter than any that an audit is known to have had';
  const latest = now.getTime() + clockSlackMs;
  if (Date.parse(listedFrom) > latest || Date.parse(cursor.searchedTo ?? listedFrom) > latest)
    return 'its time is in the future';
  return cursor.verified.seal > number + 1 ? 'it says that later seals were verified' : undefined;
}

function isExpired({ key }: Hashed, { plan: { retentionDays } }: ChainedSeal, now: Date): boolean {
  const run = (parseRunRecordKey(key) ?? parseObjectKey(key))?.run;
  return (
    run !== undefined &&
    retentionDays !== undefined &&
    run.getTime() + retentionDays * dayMs - clockSlackMs <= now.getTime()
  );
}

async function hashOf(reader: ArchiveReader, { key }: Hashed): Promise<string | undefined> {
  if (parseRunRecordKey(key) === undefined) return (await checkObject(reader, key)).sha256;
  try {
    const found = await readWhole(reader, key, largestRecordBytes);
    return found && sha256Of(found.bytes);
  } catch (error) {
    if (error instanceof DamagedObjectError) return undefined;
    throw error;
  }
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
