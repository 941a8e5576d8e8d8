import type { KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { stampedWithinMs } from '../../archive/format/clocks';
import { sealKey, sealStateKey } from '../../archive/format/keys';
import { jsonLinesType } from '../../archive/format/object-headers';
import { largestSealBytes, type Seal } from '../../archive/format/seal';
import { parsePublicKey, sealFile, sealLine, sha256Of } from '../../archive/format/seal-file';
import { largestStateBytes } from '../../archive/format/seal-state';
import { impossibleTimes, type ReadStamps, readChain, readNewStamps, type SealChain } from '../../archive/prove/attest';
import { ArchiveReadError } from '../../archive/read';
import type { Clock } from '../clock';
import type { S3Archive } from '../collect/put/s3-archive';
import type { Mail } from '../notify/mail';
import { auditMail } from './audit-mail';
import { type ExamineContext, examine } from './examine';
import { Findings } from './findings';
import { fleetInForce } from './fleet-in-force';
import type { KmsSigner } from './kms-signer';
import { latePasses, type MailedSeal, stalestHours } from './mail-sections';
import { sealedPlan, type UnsignedSeal } from './make-seal';
import { logFigures } from './seam-summary';
import { type AskedStamp, type StampSealContext, stampSeal } from './stamp-seal';

/** Signs seals. */
export type Signer = Pick<KmsSigner, 'keyArn' | 'publicKey' | 'sign'>;

/** What alarms watch besides the result. */
export interface AuditFigures {
  /** Gaps that no earlier mail has, but not those of clusters whose logs never share a line. */
  readonly logGaps: number;
  /** Logs that are frozen, whether a mail had them or not. */
  readonly frozenLogs: number;
  readonly stalestHours: number;
  /** Passes over old content that were not finished within their days. */
  readonly latePasses: number;
  /** Authorities of time stamps that gave none for three days. */
  readonly unstamped: number;
}

/** Receives what becomes of an audit. */
export interface AuditReporter {
  /** The seal is stored. */
  sealed(result: AuditResult, figures: AuditFigures): void;
  /** The mail could not be sent. */
  notMailed(error: unknown): void;
}

export interface AuditContext
  extends Pick<ExamineContext, 'plan' | 'reader' | 'stop'>,
    Pick<StampSealContext, 'requestStamp'> {
  readonly sink: Pick<S3Archive, 'bucket' | 'put'>;
  readonly signer: Signer;
  readonly mail: (mail: Mail) => Promise<void>;
  readonly clock: Pick<Clock, 'now'>;
  readonly reporter: AuditReporter;
  readonly collectorVersion: string;
}

/** What a caller of the audit gets. */
export interface AuditResult {
  readonly seal: string;
  readonly number: number;
  /** Where the seal lies: `s3://bucket/key`. */
  readonly key: string;
  readonly sha256: string;
  /** Whether this invocation saw how it was stored; false: it was there. */
  readonly isNew: boolean;
  /** Counts of what this audit found, by kind. */
  readonly found: Readonly<Record<string, number>>;
  /** How much is damaged by this audit or one before it, was not seen to be repaired, and is not acknowledged. */
  readonly damage: number;
  readonly verified: Seal['verified'];
  /** What became of asking for stamps of the seal. */
  readonly stamps: readonly AskedStamp[];
}

/** The seal could not be stored under any number, or nobody could read it. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Numbers that are tried: each was taken by another audit at the same time. */
const mostNumbers = 10;

/**
 * Reads what was archived since the seal before, makes a seal in one go, and tells people. What it finds is not a failure. What
 * it did not compute itself it never signs, and nothing is stored before it is signed: an audit that dies leaves nothing.
 * @param time names the audit; undefined: now, by S3's clock. A time that has its seal in the chain already returns that seal,
 * unless it is the head and was made with another plan
 * @throws ArchiveReadError, ArchiveError, SigningError, SealError
 */
export async function audit(time: Date | undefined, context: AuditContext): Promise<AuditResult> {
  const { reader, clock, sink, plan, collectorVersion } = context;
  // By S3's clock, as the time of its listing: the function's may be off by an hour.
  const named = (time ?? (await reader.time()) ?? clock.now()).toISOString();
  for (let tried = 0; tried < mostNumbers; tried += 1) {
    const now = (await reader.time()) ?? clock.now();
    const findings = new Findings();
    const publicKeys = await trustedKeys(context);
    const chain = await readChain(reader, { publicKeys, archive: sink.bucket }, findings.find);
    const stamps = await readNewStamps(reader, chain);
    for (const finding of [...stamps.findings, ...impossibleTimes(chain, stamps.counting, now)]) findings.add(finding);
    const judged = { chain, stamps };
    const done = chain.seals.findLast(({ seal }) => seal === named);
    // It is not the head: a later audit has sent its mail already.
    if (done !== undefined && done !== chain.head) return resultOf(done, [], context, false);
    // Its audit may have been killed before its mail, or it is this one, and the answer to the writing was lost. With
    // another plan somebody else signed it: a mail of it would excuse by its retention what is gone.
    if (done !== undefined && done === chain.stateOf && isOfPlan(done, plan))
      return report(done, { ...done, ...chain.state }, judged, context, false);
    const unread = [...chain.passedOver.values()].filter(({ sha256 }) => sha256 === null).length;
    if (chain.head === undefined && unread > 0)
      throw new ArchiveReadError(
        `Reading the seals in ${reader.location} failed: none is right, and ${unread} cannot be read; an audit now would begin another chain`,
      );
    const own = { archive: sink.bucket, seal: named, keyArn: context.signer.keyArn, collectorVersion };
    const fleet = await fleetInForce(plan, chain, reader, now);
    const examined = await examine({ ...context, ...fleet, now, chain, findings, own, stamps: stamps.hashed });
    const seal = await store(examined, context);
    if (seal !== undefined) return report(seal, { ...seal, ...examined.state }, judged, context, true);
  }
  throw new SealError(
    `Storing the seal failed: ${mostNumbers} numbers in a row were taken by other audits; start it again`,
  );
}

/** Whether the audit would seal the same plan again. A list from outside may have changed since. */
function isOfPlan(seal: Seal, plan: AuditContext['plan']): boolean {
  return isDeepStrictEqual(deployedOf(seal.plan), deployedOf(sealedPlan(plan, seal, seal.seal)));
}

/** A plan without what a list from outside changes. */
function deployedOf({ clusters, clusterList, ...plan }: Seal['plan']): object {
  return clusterList === undefined
    ? { ...plan, clusters }
    : { ...plan, clusterList: { ...clusterList, configuration: undefined } };
}

/** Has a seal that is stored stamped, reports it, and mails it if that is due. @param mailed the same seal with its state */
async function report(
  seal: StoredSeal,
  mailed: MailedSeal,
  { chain, stamps: read }: { readonly chain: SealChain; readonly stamps: ReadStamps },
  context: AuditContext,
  isNew: boolean,
): Promise<AuditResult> {
  const { mail, plan, reporter, reader, clock } = context;
  const now = (await reader.time()) ?? clock.now();
  const stamps = await stampSeal(seal, {
    ...context,
    authorities: plan.timestamps ?? [],
    chain,
    stamped: rightStamps(chain, read),
    now,
  });
  const result = resultOf(seal, stamps, context, isNew);
  reporter.sealed(result, {
    stalestHours: stalestHours(mailed),
    latePasses: latePasses(mailed).length,
    unstamped: stamps.filter(({ since }) => since !== undefined && now.getTime() - Date.parse(since) > stampedWithinMs)
      .length,
    ...logFigures(mailed.logs, plan.frozenAfterHours),
  });
  try {
    if (mailed.logs.isMailed) await mail(auditMail(mailed, plan, stamps));
  } catch (error) {
    // The seal is stored: a mail that cannot be sent must not make the audit run again.
    reporter.notMailed(error);
  }
  return result;
}

/** Keys of the stamps that are right: those that an earlier seal names are, unless something was found. */
function rightStamps({ stamps, sealedStamps }: SealChain, { hashed, findings }: ReadStamps): Set<string> {
  const right = new Set([...sealedStamps.keys()].filter((key) => stamps.has(key)));
  for (const { key } of findings) right.delete(key);
  for (const { key } of hashed) right.add(key);
  return right;
}

type StoredSeal = Seal & Pick<MailedSeal, 'sha256'>;

function resultOf(
  stored: StoredSeal,
  stamps: readonly AskedStamp[],
  { sink }: AuditContext,
  isNew: boolean,
): AuditResult {
  const { seal, number, sha256, found, verified, open } = stored;
  const key = `s3://${sink.bucket}/${sealKey(number)}`;
  return { seal, number, key, sha256, isNew, found, damage: open.damage, verified, stamps };
}

/** The audit's own key, and those before it that it was deployed with: nothing in the archive says whom to trust. */
async function trustedKeys({ signer, plan: { formerPublicKeys = [] } }: AuditContext): Promise<KeyObject[]> {
  const own = (await signer.publicKey()).toString('base64');
  return [...formerPublicKeys, own].flatMap((publicKey) => parsePublicKey(publicKey) ?? []);
}

/** How long the writing of a seal may take, in milliseconds, retries included: the audit's own time is over then. */
const writeLimitMs = 15_000;

/**
 * Stores the state, signs the seal that names it, and stores that together with its signature. A state whose seal is not
 * stored is read by nobody.
 * @returns the seal with the SHA-256 of its line; undefined if something lies under its number: another audit's, or this
 * one's, and only the answer was lost
 * @throws SealError if no audit could read again what this one would store
 */
async function store(
  { seal: claims, state }: UnsignedSeal,
  { signer, sink }: AuditContext,
): Promise<StoredSeal | undefined> {
  const stateFile = Buffer.from(JSON.stringify(state));
  const seal: Seal = { ...claims, state: sha256Of(stateFile) };
  const line = sealLine(seal);
  const sha256 = sha256Of(line);
  const [publicKey, signature] = await Promise.all([signer.publicKey(), signer.sign(Buffer.from(sha256))]);
  const content = sealFile(line, {
    sha256,
    algorithm: 'ECDSA_SHA_256',
    publicKey: publicKey.toString('base64'),
    signature: signature.toString('base64'),
  });
  refuseLonger('seal', content, largestSealBytes);
  refuseLonger('state', stateFile, largestStateBytes);
  const write = AbortSignal.timeout(writeLimitMs);
  await sink.put({ key: sealStateKey(seal.state), content: stateFile, contentType: 'application/json' }, write);
  const object = { key: sealKey(seal.number), content, contentType: jsonLinesType };
  return (await sink.put(object, write)) === 'archived' ? { ...seal, sha256 } : undefined;
}

function refuseLonger(what: string, { length }: Buffer, most: number): void {
  if (length > most)
    throw new SealError(
      `Storing the ${what} failed: it has ${length} bytes, and no audit reads more than ${most}; configure fewer clusters, or several stacks`,
    );
}
