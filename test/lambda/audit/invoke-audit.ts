import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { AuditPlan } from '../../../archive/format/plan';
import {
  type AuditContext,
  type AuditFigures,
  type AuditResult,
  audit,
  type Signer,
} from '../../../lambda/audit/audit';
import type { Mail } from '../../../lambda/notify/mail';
import { Stop } from '../../../lambda/stop';
import type { MemoryBucket } from '../../archive/prove/history/memory-bucket';
import { Connection, KilledError } from '../../support/connection';

/** A key that signs as KMS does. */
export class TestKey implements Signer {
  readonly keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/seals';
  readonly privateKey: KeyObject = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;

  async publicKey(): Promise<Buffer> {
    return createPublicKey(this.privateKey).export({ type: 'spki', format: 'der' });
  }

  async sign(message: Buffer): Promise<Buffer> {
    return sign('sha256', message, this.privateKey);
  }
}

export interface AuditOptions {
  readonly bucket: MemoryBucket;
  readonly plan: AuditPlan;
  readonly key: Signer;
  /** The time by S3's clock. */
  readonly start: Date;
  /** Names the audit; left out: the function's own clock does. */
  readonly time?: Date | undefined;
  /** How far the function's own clock is ahead of S3's, in milliseconds. */
  readonly wrongByMs?: number;
  /** Requests until the process is killed; left out: it is not. */
  readonly killedAfter?: number | undefined;
  /** Whether S3 does what a killed process asked for last. */
  readonly isLastDone?: boolean;
  /** Requests until the audit's time is over; left out: it has time enough. */
  readonly outOfTimeAfter?: number | undefined;
  /** Waits before each request, so that others go first. */
  readonly wait?: () => Promise<void>;
  /** Answers as authorities of time stamps do; left out: none answers. */
  readonly requestStamp?: AuditContext['requestStamp'];
  /** Whether the topic takes mails. */
  readonly refusesMails?: boolean;
}

export interface Audited {
  /** Undefined: the process was killed. */
  readonly result: AuditResult | undefined;
  readonly mails: readonly Mail[];
  readonly reported: readonly ({ readonly result: AuditResult } & AuditFigures)[];
  readonly notMailed: readonly unknown[];
  /** Keys of the objects that were opened, in order. */
  readonly opened: readonly string[];
  readonly requests: number;
}

/** One invocation of the audit's core, beside whatever else is under way in the same bucket. */
export async function invokeAudit(options: AuditOptions): Promise<Audited> {
  const { plan, key, time, start, wrongByMs = 0, refusesMails = false } = options;
  const { requestStamp = () => Promise.reject(new Error('nobody answers')) } = options;
  const stop = new Stop(() => 600_000);
  const connection = new Connection({
    ...options,
    time: () => start,
    isLastDone: () => options.isLastDone === true,
    wait: async () => {
      await options.wait?.();
      if (connection.requests >= (options.outOfTimeAfter ?? Number.POSITIVE_INFINITY)) stop.outOfTime();
    },
  });
  const mails: Mail[] = [];
  const reported: Audited['reported'][number][] = [];
  const notMailed: unknown[] = [];
  const signer: Signer = {
    keyArn: key.keyArn,
    publicKey: () => connection.request(() => key.publicKey()),
    sign: (message) => connection.request(() => key.sign(message)),
  };
  const mail = (one: Mail) =>
    connection.request(async () => {
      if (refusesMails) throw new Error('the topic is not there');
      mails.push(one);
    });
  const reporter = {
    sealed: (result: AuditResult, figures: AuditFigures) => void reported.push({ result, ...figures }),
    notMailed: (error: unknown) => void notMailed.push(error),
  };
  const clock = { now: () => new Date(start.getTime() + wrongByMs) };
  const aside = { signer, mail, clock, stop: stop.working, reporter, requestStamp };
  const context = { plan, reader: connection, sink: connection, ...aside };
  const seen = () => ({ mails, reported, notMailed, opened: connection.opened, requests: connection.requests });
  try {
    const result = await audit(time, { ...context, collectorVersion: '1.0.0' });
    return { result: connection.isKilled ? undefined : result, ...seen() };
  } catch (error) {
    if (!(error instanceof KilledError)) throw error;
    return { result: undefined, ...seen() };
  } finally {
    stop.close();
  }
}
