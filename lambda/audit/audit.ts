import { createHash, type KeyObject } from 'node:crypto';
import { sealKey } from '../archive/archive-layout';
import type { ArchiveObject } from '../archive/archive-object';
import type { Clock } from '../clock';
import type { AuditPlan } from '../stack-contract';
import type { Stop } from '../stop';
import type { ArchiveReader } from '../verify/archive-reader';
import { countDamage } from '../verify/finding';
import { readWhole } from '../verify/read-whole';
import { largestSealBytes, type Seal, sealText } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';
import { readChain } from '../verify/seals/seal-chain';
import { parsePublicKey } from '../verify/seals/signature';
import { confirmSeal } from './confirm-seal';
import { type Examined, examine } from './examine';
import { Findings } from './findings';
import { staleness } from './freshness';
import { auditMail, type Mail, sealMail } from './mail';

/** Signs seals. */
export interface Signer {
  readonly keyArn: string;
  /** SPKI in DER. @throws SigningError */
  publicKey(): Promise<Buffer>;
  /** ECDSA over the SHA-256 of the message, in DER. @throws SigningError */
  sign(message: Buffer): Promise<Buffer>;
}

/** The bucket as far as an audit writes to it. */
export interface SealSink {
  readonly bucket: string;
  /** Writes one object whole, never over an existing one. @throws ArchiveError */
  put(object: ArchiveObject, signal: AbortSignal): Promise<'archived' | 'already-archived'>;
}

/** Is told what becomes of an audit. */
export interface AuditReporter {
  /** The seal is stored and signed. */
  sealed(result: AuditResult, staleHours: number): void;
  /** People could not be told. */
  notMailed(error: unknown): void;
}

export interface AuditContext {
  readonly plan: AuditPlan;
  readonly reader: ArchiveReader;
  readonly sink: SealSink;
  readonly signer: Signer;
  readonly mail: (mail: Mail) => Promise<void>;
  readonly clock: Pick<Clock, 'now'>;
  readonly stop: Stop;
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
  /** Whether it was made by this invocation; an audit of the same time may have made it before. */
  readonly isNew: boolean;
  /** Counts of findings by kind; damage alone makes them alarming. */
  readonly found: Readonly<Record<string, number>>;
  readonly damage: number;
  readonly verified: Seal['verified'];
}

/** The seal could not be stored under any number. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Numbers that are tried: each was taken by another audit at the same time. */
const mostNumbers = 10;

/**
 * Reads what was archived since the seal before, seals and signs it, and tells people. What it finds is no failure.
 * @param time names the audit; undefined: now. A time that has its seal already returns that seal
 * @throws ArchiveReadError, ArchiveError, SigningError, SealError
 */
export async function audit(time: Date | undefined, context: AuditContext): Promise<AuditResult> {
  const { reader, clock } = context;
  const named = (time ?? clock.now()).toISOString();
  for (let tried = 0; tried < mostNumbers; tried += 1) {
    const listedFrom = (await reader.time()) ?? clock.now();
    const findings = new Findings();
    const publicKeys = await trustedKeys(context);
    let chain = await readChain(reader, { publicKeys }, findings.find);
    if (await signLast(chain, listedFrom, context, findings))
      chain = await readChain(reader, { publicKeys }, () => undefined);
    const done = chain.seals.find(({ seal, signature }) => seal === named && signature === 'right');
    if (done !== undefined) return resultOf(done, done.key, done.sha256, context, false);
    const examined = await examine({ ...context, listedFrom, chain, findings });
    const seal = { ...examined.seal, seal: named };
    const content = sealText(seal);
    const { number } = seal;
    if (!(await store(number, content, context))) continue;
    await sign(number, content, context);
    return finish(seal, sha256Of(content), chain, examined, context);
  }
  throw new SealError(
    `Storing the seal failed: ${mostNumbers} numbers in a row were taken by other audits; start it again`,
  );
}

async function finish(
  seal: Seal,
  sha256: string,
  chain: SealChain,
  examined: Examined,
  context: AuditContext,
): Promise<AuditResult> {
  const result = resultOf(seal, sealKey({ number: seal.number, part: 'seal' }), sha256, context, true);
  const { before } = chain;
  // Once a day, whatever the audit's schedule is.
  const isDue = before === undefined || before.seal.slice(0, 10) !== seal.seal.slice(0, 10) || result.damage > 0;
  // Without runs no cluster fails, and none is archived.
  context.reporter.sealed(result, Math.max(examined.hoursSinceRun, examined.stale[0]?.hours ?? 0));
  if (isDue)
    await tell(auditMail({ ...examined, seal, sha256, plan: context.plan, archive: context.sink.bucket }), context);
  return result;
}

function resultOf(
  { seal, number, found, verified }: Pick<Seal, 'seal' | 'number' | 'found' | 'verified'>,
  key: string,
  sha256: string,
  { sink }: AuditContext,
  isNew: boolean,
): AuditResult {
  const location = `s3://${sink.bucket}/${key}`;
  return { seal, number, key: location, sha256, isNew, found, damage: countDamage(found), verified };
}

/** The seal is stored and signed: people who are not told must not make the audit run again. */
async function tell(mail: Mail, { mail: send, reporter }: AuditContext): Promise<void> {
  try {
    await send(mail);
  } catch (error) {
    reporter.notMailed(error);
  }
}

/** The audit's own key, and those before it that it was deployed with: nothing in the archive says whom to trust. */
async function trustedKeys({ signer, plan: { formerPublicKeys = [] } }: AuditContext): Promise<KeyObject[]> {
  const own = (await signer.publicKey()).toString('base64');
  return [...formerPublicKeys, own].flatMap((publicKey) => parsePublicKey(publicKey) ?? []);
}

/**
 * Signs the last seal if its audit died before it could, and if it says what the archive has; then tells people.
 * @returns whether it is signed now
 */
async function signLast(
  chain: SealChain,
  listedFrom: Date,
  context: AuditContext,
  findings: Findings,
): Promise<boolean> {
  const { reader, plan } = context;
  const last = chain.seals.at(-1);
  if (last?.signature !== 'unsigned' || last.number !== chain.lastNumber) return false;
  const signatureKey = sealKey({ number: last.number, part: 'signature' });
  if (findings.isAbout(last.key) || findings.isAbout(signatureKey)) return false;
  const content = await confirmSeal(last, { reader, chain, plan, now: listedFrom, find: findings.find });
  if (content === undefined) return false;
  const isOwn = (await sign(last.number, content, context)) === 'archived';
  findings.forget(last.key);
  // Otherwise its own audit is alive, has signed it, and tells people.
  if (!isOwn) return true;
  const [stalest] = staleness(chain.failing, listedFrom);
  context.reporter.sealed(resultOf(last, last.key, last.sha256, context, true), stalest?.hours ?? 0);
  await tell(sealMail({ ...last, archive: context.sink.bucket }), context);
  return true;
}

/** @returns whether the content lies under the number now: another audit may have taken it */
async function store(number: number, content: Buffer, { sink, reader }: AuditContext): Promise<boolean> {
  const key = sealKey({ number, part: 'seal' });
  const object = { key, content, contentType: 'application/json' };
  if ((await sink.put(object, writing())) === 'archived') return true;
  // Only the answer to the writing may have been lost.
  return (await readWhole(reader, key, largestSealBytes))?.bytes.equals(content) === true;
}

async function sign(
  number: number,
  content: Buffer,
  { signer, sink }: AuditContext,
): Promise<'archived' | 'already-archived'> {
  const sha256 = sha256Of(content);
  const [publicKey, signature] = await Promise.all([signer.publicKey(), signer.sign(Buffer.from(sha256))]);
  const signed = sealText({
    sha256,
    algorithm: 'ECDSA_SHA_256',
    keyArn: signer.keyArn,
    publicKey: publicKey.toString('base64'),
    signature: signature.toString('base64'),
  });
  // Another audit may have signed it too; its signature is as good.
  const key = sealKey({ number, part: 'signature' });
  return sink.put({ key, content: signed, contentType: 'application/json' }, writing());
}

/** How long the writing of one object may take, in milliseconds, retries included: the audit's own time is over then. */
const writeLimitMs = 15_000;

function writing(): AbortSignal {
  return AbortSignal.timeout(writeLimitMs);
}

function sha256Of(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
