import { createHash } from 'node:crypto';
import type { AuditPlan, Collection } from '../../../lambda/stack-contract';
import { damageKinds, type Finding } from '../../../lambda/verify/finding';
import { type Seal, sealSchema, sealText } from '../../../lambda/verify/seals/seal';
import { type VerifyOptions, verifyArchive } from '../../../lambda/verify/verify-archive';
import { seededRandom } from '../../../local/demo-service/seeded-random';
import { invoke } from '../verify/history/invocation';
import { MemoryBucket } from '../verify/history/memory-bucket';
import { type Audited, type AuditOptions, invokeAudit, TestKey } from './invoke-audit';

const schedule = { expression: 'cron(0 0/6 * * ? *)', timeZone: 'Etc/UTC', enabled: true };

export const collection: Collection = {
  service: { baseUrl: 'http://127.0.0.1:9', collection: 'c' },
  clusters: [{ uid: 'a' }, { uid: 'b' }, { uid: 'c' }],
  limits: { concurrency: 3, maxBodyMiB: 1, responseTimeoutSeconds: 1 },
  compression: 'gzip',
  schedule,
};

export const plan: AuditPlan = {
  clusters: collection.clusters,
  schedule,
  auditSchedule: { expression: 'cron(30 23 * * ? *)', timeZone: 'Etc/UTC', enabled: true },
};

/** A seed without clocks that are wrong. */
const calm = 'calm';

/** A collector and an audit that share a bucket. */
export class SealedWorld {
  readonly key = new TestKey();
  readonly bucket: MemoryBucket;
  readonly #random = seededRandom(calm);

  constructor(bucket = new MemoryBucket()) {
    this.bucket = bucket;
  }

  /** Runs the collector as the schedule does, or with another event. */
  async collect(time: string, failing: readonly string[] = [], event: object = { scheduledTime: time }): Promise<void> {
    const [random, start] = [this.#calmRandom(), new Date(time)];
    await invoke({ bucket: this.bucket, collection, event, start, failing: new Set(failing), random });
  }

  /** Runs the collector twice for one time. The first attempt is killed: no record has a hash of what it archived. */
  async collectAfterKill(time: string): Promise<void> {
    const [random, start] = [this.#calmRandom(), new Date(time)];
    const event = { scheduledTime: time };
    await invoke({ bucket: this.bucket, collection, event, start, failing: new Set(), random, killedAfter: 4 });
    await this.collect(time);
  }

  /** Audits at a time, as the schedule does. */
  audit(time: string, more: Partial<AuditOptions> = {}): Promise<Audited> {
    const start = new Date(time);
    return invokeAudit({ bucket: this.bucket, plan, key: this.key, start, time: start, ...more });
  }

  /** Runs at 00, 06, 12 and 18 o'clock of some days of November 2026, and an audit at the end of each. */
  async live(...days: readonly number[]): Promise<void> {
    for (const day of days) {
      const date = `2026-11-${day}`;
      for (const hour of ['00', '06', '12', '18']) await this.collect(`${date}T${hour}:00:00.000Z`);
      await this.audit(`${date}T23:30:00.000Z`);
    }
  }

  seal(number: number): Seal & { readonly sha256: string } {
    const body = this.bucket.objects.get(sealFile(number))?.body ?? Buffer.alloc(0);
    return { ...sealSchema.parse(JSON.parse(String(body))), sha256: createHash('sha256').update(body).digest('hex') };
  }

  /** Nothing in it comes by chance: no answer is lost and no clock is wrong. */
  #calmRandom(): () => number {
    return () => 0.5 + this.#random() / 4;
  }
}

export function sealFile(number: number): string {
  return `seals/${String(number).padStart(8, '0')}.json`;
}

export function signatureFile(number: number): string {
  return sealFile(number).replace('.json', '.sig.json');
}

/** Writes a seal over one that is there, signed with a key or with the signature that it has. */
export async function rewriteSeal(bucket: MemoryBucket, seal: Seal, key?: TestKey): Promise<string> {
  const { sha256: _, ...content } = { sha256: '', ...seal };
  const body = sealText(content);
  const sha256 = createHash('sha256').update(body).digest('hex');
  bucket.rewrite(sealFile(seal.number), { body });
  if (key === undefined) return sha256;
  const signature = {
    sha256,
    algorithm: 'ECDSA_SHA_256' as const,
    keyArn: key.keyArn,
    publicKey: (await key.publicKey()).toString('base64'),
    signature: (await key.sign(Buffer.from(sha256))).toString('base64'),
  };
  bucket.rewrite(signatureFile(seal.number), { body: sealText(signature) });
  return sha256;
}

/** What verify finds long after. */
export async function look(
  bucket: MemoryBucket,
  options: Pick<VerifyOptions, 'publicKeys' | 'head'> = {},
): Promise<Finding[]> {
  const findings: Finding[] = [];
  await verifyArchive(bucket, {
    ...options,
    now: new Date('2026-12-24T00:00:00Z'),
    concurrency: 4,
    onFinding: (finding) => findings.push(finding),
    onProgress: () => undefined,
  });
  return findings;
}

/** The kinds of damage among findings, each once. */
export function damageIn(findings: readonly { readonly kind: string }[]): string[] {
  return [...new Set(findings.map(({ kind }) => kind))]
    .filter((kind) => damageKinds.some((one) => one === kind))
    .sort();
}
