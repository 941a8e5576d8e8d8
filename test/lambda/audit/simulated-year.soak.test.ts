import { appendFileSync } from 'node:fs';
import type { Configuration } from '../../../archive/format/configuration';
import type { AuditPlan } from '../../../archive/format/plan';
import { firingsOf } from '../../../archive/format/schedule/firings';
import { between, type Random, seededRandom } from '../../../local/demo-service/seeded-random';
import { type Invoked, invoke } from '../../archive/prove/history/invocation';
import { MemoryBucket } from '../../archive/prove/history/memory-bucket';
import { KilledError } from '../../support/connection';
import { invokeAudit, TestKey } from './invoke-audit';
import { collection, damageIn, look } from './sealed-world';

const day = 86_400_000;
/**
 * 365 are a year of 8,760 runs: `DAYS=365 npx jest simulated-year --selectProjects soak`. With MAILS a file gets the mails, to be
 * read.
 */
const { DAYS, MAILS } = process.env;
const days = Number(DAYS ?? 14);
const retentionDays = 10;
/** The clocks of Berlin are set back on 31 October. */
const begin = Date.UTC(2027, 9, 20);
const schedule = { expression: 'cron(0 * * * ? *)', timeZone: 'Europe/Berlin', enabled: true };
const auditSchedule = { expression: 'cron(30 6 * * ? *)', timeZone: 'Europe/Berlin', enabled: true };
const uids = Array.from({ length: 22 }, (_, at) => `c-${String(at).padStart(2, '0')}`);
const source = { from: 's3://inventory/clusters.json', leaveAfterDays: 3 };

/** Who is to be collected, and how that changes. */
interface Fleet {
  /** Begins a day. */
  change(random: Random): void;
  readonly configuration: Pick<Configuration, 'clusters' | 'clusterList'>;
  /** What lies outside; undefined: the clusters are deployed. */
  readonly list?: string;
  readonly plan: Pick<AuditPlan, 'clusters' | 'clusterList'>;
}

/** Somebody deploys other clusters about once in ten days. */
class DeployedFleet implements Fleet {
  configuration = { clusters: uids.slice(0, 20).map((uid) => ({ uid })) };

  get plan() {
    return this.configuration;
  }

  change(random: Random): void {
    if (random() >= 0.1) return;
    const left = between(random, 0, uids.length - 1);
    const clusters = uids.filter((_, at) => at !== left).map((uid) => ({ uid }));
    this.configuration = { clusters: clusters.slice(0, 20) };
  }
}

/** Somebody writes another list every day: clusters join, leave, and come back, before they are gone or after. */
class ListedFleet implements Fleet {
  readonly configuration = { clusters: [], clusterList: { ...source, mostClusters: 60 } };
  readonly plan = { clusters: [], clusterList: source };
  readonly #absent: string[] = [];
  #listed = uids.slice(0, 20);
  #next = 0;

  get list(): string {
    return JSON.stringify(this.#listed);
  }

  change(random: Random): void {
    for (let leaving = between(random, 0, 2); leaving > 0 && this.#listed.length > 15; leaving -= 1)
      this.#absent.unshift(...this.#listed.splice(between(random, 0, this.#listed.length - 1), 1));
    // One that left lately, or long ago.
    for (let back = between(random, 0, 1); back > 0 && this.#absent.length > 0; back -= 1)
      this.#listed.push(...this.#absent.splice(between(random, 0, Math.min(9, this.#absent.length - 1)), 1));
    while (this.#listed.length < between(random, 16, 22)) this.#listed.push(`n-${this.#next++}`);
  }
}

/** A collector with its audit over many days. The service throttles some clusters for a while; an attempt may be killed. */
class Year {
  readonly bucket = new MemoryBucket();
  readonly counted = { runs: 0, incomplete: 0, killed: 0, audits: 0, mails: 0, subjects: new Map<string, number>() };
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #key = new TestKey();

  constructor(fleet: Fleet, seed: string) {
    this.#fleet = fleet;
    this.#random = seededRandom(seed);
  }

  async live(): Promise<void> {
    const runs = firingsOf(schedule.expression, schedule.timeZone);
    const audits = firingsOf(auditSchedule.expression, auditSchedule.timeZone);
    for (let at = begin; at < begin + days * day; at += day) {
      const [from, to] = [new Date(at), new Date(at + day - 1)];
      const due = [...runs.between(from, to)].map((one) => ({ at: one.at, act: () => this.#run(one.at) }));
      const audited = [...audits.between(from, to)].map((one) => ({ at: one.at, act: () => this.#audit(one.at) }));
      this.#fleet.change(this.#random);
      for (const { act } of [...due, ...audited].sort((a, b) => a.at.getTime() - b.at.getTime())) await act();
    }
  }

  /** A run with the retries of its event. */
  async #run(at: Date): Promise<void> {
    const isThrottled = this.#random() < 0.05;
    this.counted.runs += 1;
    let start = at;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const failing = new Set(uids.filter(() => isThrottled && this.#random() < 0.6 / attempt));
      const killedAfter = attempt < 3 && this.#random() < 0.02 ? between(this.#random, 0, 60) : undefined;
      const { outcome, end } = await this.#attempt({ at, start, failing, killedAfter });
      if (outcome === 'killed') this.counted.killed += 1;
      if (outcome === 'succeeded') return;
      start = new Date(end.getTime() + attempt * 60_000);
    }
    this.counted.incomplete += 1;
  }

  async #attempt({ at, start, failing, killedAfter }: Attempt): Promise<Pick<Invoked, 'outcome' | 'end'>> {
    const { configuration, list } = this.#fleet;
    const common = { ...collection, schedule, retentionDays, ...configuration };
    const event = { scheduledTime: at.toISOString() };
    const random = this.#random;
    try {
      return await invoke({
        bucket: this.bucket,
        collection: common,
        list,
        event,
        start,
        failing,
        random,
        killedAfter,
      });
    } catch (error) {
      // It was killed while it looked for who was collected before.
      if (!(error instanceof KilledError)) throw error;
      return { outcome: 'killed', end: start };
    }
  }

  async #audit(at: Date): Promise<void> {
    const { bucket, counted } = this;
    for (const [name, { writtenAt }] of bucket.objects)
      if (/^(logs|manifests|runs)/.test(name) && at.getTime() - writtenAt.getTime() > (retentionDays + 1) * day)
        bucket.objects.delete(name);
    const plan: AuditPlan = { ...this.#fleet.plan, schedule, auditSchedule, retentionDays, rereadDays: 5 };
    const { result, mails } = await invokeAudit({ bucket, plan, key: this.#key, start: at, time: at });
    expect([at, result?.damage, result?.found.absent]).toEqual([at, 0, undefined]);
    counted.audits += 1;
    counted.mails += mails.length;
    for (const { subject, text } of mails) {
      const said = subject.replace(/ \(.*/, '').replace(/\d+/g, 'n');
      counted.subjects.set(said, (counted.subjects.get(said) ?? 0) + 1);
      if (MAILS !== undefined) appendFileSync(MAILS, `Subject: ${subject}\n\n${text}\n`);
    }
  }
}

interface Attempt {
  readonly at: Date;
  readonly start: Date;
  readonly failing: ReadonlySet<string>;
  readonly killedAfter: number | undefined;
}

describe(`${days} days of hourly runs of 20 clusters, with throttles, kills, and the end of summer time`, () => {
  it.each<[string, Fleet]>([
    ['clusters that are deployed anew now and then', new DeployedFleet()],
    ['a list of clusters from outside that changes daily', new ListedFleet()],
  ])(
    'have no damage with %s',
    async (name, fleet) => {
      const year = new Year(fleet, `${name} ${days}`);
      await year.live();
      expect(damageIn(await look(year.bucket, {}, new Date(begin + days * day)))).toEqual([]);
      // One mail a day, and each says how it is.
      const { counted } = year;
      expect([counted.audits, counted.mails]).toEqual([days, days]);
      if (DAYS !== undefined)
        process.stdout.write(`${name}: ${JSON.stringify({ ...counted, subjects: [...counted.subjects] })}\n`);
    },
    7_200_000,
  );
});
