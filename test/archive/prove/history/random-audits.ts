import { dayMs, hourMs } from '../../../../archive/format/clocks';
import type { AuditPlan } from '../../../../archive/format/plan';
import type { AuditResult } from '../../../../lambda/audit/audit';
import { between, pick, type Random } from '../../../../local/demo-service/seeded-random';
import { type Audited, invokeAudit, TestKey } from '../../../lambda/audit/invoke-audit';
import type { MemoryBucket } from './memory-bucket';
import type { Deployment } from './random-deployment';

/** Plays the audit of a history: late, twice at once, by a wrong clock, killed, or out of time. */
export class RandomAudits {
  /** What audits returned that were not killed. */
  readonly results: AuditResult[] = [];
  /** Deployments that a seal knows. */
  readonly sealed = new Set<Deployment>();
  readonly #random: Random;
  readonly #bucket: MemoryBucket;
  readonly #note: (what: string, about: string) => void;
  readonly #key = new TestKey();
  #auditedAt = new Date(0);

  constructor(random: Random, bucket: MemoryBucket, note: (what: string, about: string) => void) {
    this.#random = random;
    this.#bucket = bucket;
    this.#note = note;
  }

  /** The audit is due once a day; now and then it comes late, or somebody starts one. */
  async perhapsAt(now: Date, deployed: Deployment): Promise<void> {
    const isDue = now.getTime() - this.#auditedAt.getTime() >= dayMs && this.#random() < 0.9;
    if (isDue || this.#random() < 0.1) await this.at(now, deployed);
  }

  /** One event, with Lambda's retries; now and then it is delivered twice. */
  async at(start: Date, deployed: Deployment): Promise<void> {
    const random = this.#random;
    this.#auditedAt = start;
    const time = random() < 0.8 ? start : undefined;
    const wrongByMs = pick(random, [0, 0, 0, -hourMs, hourMs]);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const deliveries = random() < 0.15 ? 2 : 1;
      const audited = await Promise.all(
        Array.from({ length: deliveries }, () => this.#invoke(start, deployed, time, wrongByMs)),
      );
      if (audited.some(({ result }) => result !== undefined)) return;
    }
  }

  async #invoke(start: Date, deployed: Deployment, time: Date | undefined, wrongByMs: number): Promise<Audited> {
    const random = this.#random;
    const { clusters, schedule, retentionDays } = deployed.collection;
    const plan: AuditPlan = {
      clusters,
      schedule,
      // Audits come at any time here: none is due.
      auditSchedule: { expression: 'cron(30 5 * * ? *)', timeZone: 'Etc/UTC', enabled: false },
      // Whoever shortens the retention here means it.
      ...(retentionDays !== undefined && { retentionDays, shorterRetentions: [{ retentionDays, why: 'it is meant' }] }),
      shards: deployed.shards,
      ...(random() < 0.3 && { rereadDays: between(random, 1, 10) }),
    };
    const audited = await invokeAudit({
      bucket: this.#bucket,
      plan,
      key: this.#key,
      start,
      time,
      wrongByMs,
      killedAfter: random() < 0.25 ? between(random, 0, 60) : undefined,
      isLastDone: random() < 0.5,
      outOfTimeAfter: random() < 0.15 ? between(random, 0, 60) : undefined,
      wait: async () => {
        for (let turns = between(random, 0, 6); turns > 0; turns -= 1) await Promise.resolve();
      },
    });
    const { result } = audited;
    this.#note(
      'audited',
      `${result?.key ?? 'killed'} ${JSON.stringify(result?.found)} ${JSON.stringify(result?.verified)}`,
    );
    if (result === undefined) return audited;
    this.results.push(result);
    if (result.isNew) this.sealed.add(deployed);
    return audited;
  }
}
