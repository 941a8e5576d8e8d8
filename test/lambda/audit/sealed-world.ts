import type { Configuration } from '../../../archive/format/configuration';
import { damageKinds, type Finding } from '../../../archive/format/finding';
import { sealKey, sealStateKey } from '../../../archive/format/keys';
import { jsonLinesType } from '../../../archive/format/object-headers';
import type { AuditPlan } from '../../../archive/format/plan';
import type { Seal } from '../../../archive/format/seal';
import { parseSeal, sealLine, sha256Of } from '../../../archive/format/seal-file';
import type { SealState } from '../../../archive/format/seal-state';
import { type VerifyOptions, verifyArchive } from '../../../archive/prove/verify-archive';
import { seededRandom } from '../../../local/demo-service/seeded-random';
import { invoke } from '../../archive/prove/history/invocation';
import { MemoryBucket } from '../../archive/prove/history/memory-bucket';
import { signSeal } from '../../support/empty-seal';
import { type Audited, type AuditOptions, invokeAudit, TestKey } from './invoke-audit';

const schedule = { expression: 'cron(0 0/6 * * ? *)', timeZone: 'Etc/UTC', enabled: true };

export const collection: Configuration = {
  service: { baseUrl: 'http://127.0.0.1:9', collection: 'c' },
  clusters: [{ uid: 'a' }, { uid: 'b' }, { uid: 'c' }],
  limits: { concurrency: 3, maxBodyMiB: 1, responseTimeoutSeconds: 1 },
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
  readonly key: TestKey;
  readonly bucket: MemoryBucket;
  /** What the mails told: the hash of each seal, in order. */
  readonly hashes: string[] = [];
  /** What the service answers as the manifest of a cluster; left out: one of a few short ones. */
  readonly manifests = new Map<string, string>();
  readonly #random = seededRandom(calm);
  readonly #collection: Configuration;

  constructor(clusters = plan.clusters, bucket = new MemoryBucket(), key = new TestKey()) {
    this.bucket = bucket;
    this.key = key;
    this.#collection = { ...collection, clusters };
  }

  /** The same archive with the same key, for another story. */
  copy(): SealedWorld {
    const copy = new SealedWorld(this.#collection.clusters, this.bucket.copy(), this.key);
    copy.hashes.push(...this.hashes);
    return copy;
  }

  /** Runs the collector as the schedule does, or with another event. */
  async collect(
    time: string,
    failing: readonly string[] = [],
    event: object = { scheduledTime: time },
    killedAfter?: number,
  ): Promise<void> {
    const [random, start] = [this.#calmRandom(), new Date(time)];
    const happening = { collection: this.#collection, event, start, failing: new Set(failing), random, killedAfter };
    await invoke({ bucket: this.bucket, manifests: this.manifests, ...happening });
  }

  /** Runs the collector twice for one time. The first attempt is killed: no record has a hash of what it archived. */
  async collectAfterKill(time: string): Promise<void> {
    const [random, start] = [this.#calmRandom(), new Date(time)];
    const event = { scheduledTime: time };
    await invoke({ bucket: this.bucket, collection, event, start, failing: new Set(), random, killedAfter: 4 });
    await this.collect(time);
  }

  /** Audits at a time, as the schedule does. */
  async audit(time: string, more: Partial<AuditOptions> = {}): Promise<Audited> {
    const start = new Date(time);
    const audited = await invokeAudit({ bucket: this.bucket, plan, key: this.key, start, time: start, ...more });
    const { result } = audited;
    if (result !== undefined && !this.hashes.includes(result.sha256)) this.hashes.push(result.sha256);
    return audited;
  }

  /** Runs at 00, 06, 12 and 18 o'clock of a day of November 2026. */
  async collectDay(day: number, failing: readonly string[] = [], hours = ['00', '06', '12', '18']): Promise<void> {
    for (const hour of hours) await this.collect(`2026-11-${day}T${hour}:00:00.000Z`, failing);
  }

  /** Such days, and an audit at the end of each. */
  async live(...days: readonly number[]): Promise<void> {
    for (const day of days) {
      await this.collectDay(day);
      await this.audit(`2026-11-${day}T23:30:00.000Z`);
    }
  }

  seal(number: number): Seal & { readonly sha256: string } {
    const body = this.bucket.objects.get(sealKey(number))?.body ?? Buffer.alloc(0);
    const line = body.subarray(0, body.indexOf('\n'));
    const seal = parseSeal(line);
    if (typeof seal === 'string') throw new Error(`seal ${number}: ${seal}`);
    return { ...seal, sha256: sha256Of(line) };
  }

  /** Keys of the run records that the seals have, whatever else lies under their keys. */
  sealedRecords(): string[] {
    const files = this.bucket.keys('seals/0').map((key) => this.bucket.objects.get(key)?.body ?? Buffer.alloc(0));
    const seals = files.map((body) => parseSeal(body.subarray(0, Math.max(0, body.indexOf('\n')))));
    return seals.flatMap((seal) => (typeof seal === 'string' ? [] : seal.records.map(({ key }) => key)));
  }

  state(number: number): SealState {
    const body = this.bucket.objects.get(sealStateKey(this.seal(number).state))?.body;
    if (body === undefined) throw new Error(`seal ${number} has no state`);
    return JSON.parse(String(body)) as SealState;
  }

  /** Makes a seal name another state, as if its audit had come to other results. */
  async changeState(number: number, changes: Partial<SealState>): Promise<void> {
    const state = putState(this.bucket, { ...this.state(number), ...changes }, new Date());
    await rewriteSeal(this.bucket, { ...this.seal(number), state }, this.key);
  }

  /** Nothing in it comes by chance: no answer is lost and no clock is wrong. */
  #calmRandom(): () => number {
    return () => 0.5 + this.#random() / 4;
  }
}

/** The bytes of a seal's file, signed with a key. */
export function signed({ sha256: _, ...seal }: Seal & { readonly sha256?: string }, key: TestKey): Buffer {
  return signSeal(seal, key.privateKey).file;
}

/** Writes a seal over one that is there, signed with a key or with the signature that it has. Returns its hash. */
export async function rewriteSeal(bucket: MemoryBucket, seal: Seal, key?: TestKey): Promise<string> {
  const { sha256: _, ...content } = { sha256: '', ...seal };
  const line = sealLine(content);
  const before = bucket.objects.get(sealKey(seal.number))?.body ?? Buffer.alloc(0);
  const kept = Buffer.concat([line, before.subarray(before.indexOf('\n'))]);
  bucket.rewrite(sealKey(seal.number), { body: key === undefined ? kept : signed(content, key) });
  return sha256Of(line);
}

/** Puts a state. @returns its SHA-256, for a seal that names it */
export function putState(bucket: MemoryBucket, state: SealState, at: Date): string {
  const content = Buffer.from(JSON.stringify(state));
  const sha256 = sha256Of(content);
  bucket.put({ key: sealStateKey(sha256), content, contentType: 'application/json' }, at);
  return sha256;
}

/** Puts a file under the key of a seal. */
export function plant(bucket: MemoryBucket, number: number, content: Buffer, at: Date): void {
  bucket.put({ key: sealKey(number), content, contentType: jsonLinesType }, at);
}

/** What verify finds long after. */
export async function look(
  bucket: MemoryBucket,
  options: Pick<VerifyOptions, 'publicKeys' | 'heads' | 'stampRoots' | 'stampedSince'> = {},
  now = new Date('2026-12-24T00:00:00Z'),
): Promise<readonly Finding[]> {
  return (await verifyArchive(bucket, { ...options, now, concurrency: 4 })).findings;
}

/** The kinds of damage among findings, each once. */
export function damageIn(findings: readonly { readonly kind: string }[]): string[] {
  return [...new Set(findings.map(({ kind }) => kind))]
    .filter((kind) => damageKinds.some((one) => one === kind))
    .sort();
}
