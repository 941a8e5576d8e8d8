import type { Configuration } from '../../../../archive/format/configuration';
import { runPrefix } from '../../../../archive/format/keys';
import { isStored, type RunRecord } from '../../../../archive/format/run-record';
import { firingsOf } from '../../../../archive/format/schedule/firings';
import type { AuditResult } from '../../../../lambda/audit/audit';
import { between, pick, type Random, seededRandom } from '../../../../local/demo-service/seeded-random';
import { recordOf } from '../../../support/record-text';
import { type Invoked, invoke } from './invocation';
import { MemoryBucket } from './memory-bucket';
import { RandomAudits } from './random-audits';
import { type Deployment, randomDeployment } from './random-deployment';
import { type Due, surelyLost } from './surely-lost';

/*
 * Plays what may become of one collector over some weeks, and says what a reader of its archive may and must find.
 *
 * Nothing here attacks. Every step is something that the design allows, so that a finding of damage is a false alarm. The steps
 * are real ones: `invocation.ts` and `invoke-audit.ts` run the core of the collector and of the audit on a bucket in memory, and
 * the service behind it is a fake. Everything follows from the seed.
 *
 * The world has four actors, and `Player` plays all of them.
 *
 * - The scheduler (`#fire`, `#loseFirings`). It fires the deployed schedule, in its time zone, at one of two instants where
 *   clocks are set back. It loses some events and delivers others twice. Lambda makes up to three attempts of each, and a person
 *   may deploy between two of them (`#invokeWithRetries`).
 * - People (`#deploy`, `#runByHand`, `#completeEarlier`). They deploy other clusters, schedules, shards and retentions
 *   (`random-deployment.ts`), start runs of all clusters or of some, and complete earlier runs, under the configuration that is
 *   deployed then. What is due while they are at work is lost.
 * - The audit (`random-audits.ts`), if the history has one. It comes about once a day, at times twice at once, with a clock that
 *   may be an hour off, and may be killed at any request or run out of time.
 * - The lifecycle (`#expire`), if things expire. It removes some of what was too old while a retention was deployed, at the end.
 *
 * Any invocation may be killed at any request to the archive; S3 may still do the last one. A killed attempt leaves objects that no
 * record names, which is damage by the rules unless somebody completes the run within nine hours. So `#repair` lets one more
 * attempt record them. A killed last run stays as it is (`play`, at its end): then somebody looks within three hours.
 *
 * What the reader is held against (`History`):
 *
 * - `lost` are all firings without a record. Only these may be called absent. Beside each instant stands the one an hour later,
 *   because a reader cannot know which of two the scheduler took. With audits it has also the firings of schedules that seals
 *   know, while one was in force that no seal knows (`#unseen`): the audit cannot have known of it.
 * - `surelyLost` are those that a reader must call absent (`surely-lost.ts`). That is harder to say than what may be: the runs
 *   before and after have records and the same deployment, no other one lies within four hours of either (clocks are up to an
 *   hour off), no run between them was completed under another one, and a day has passed. Where things expire nothing is sure.
 *
 * `verify-history.ts` verifies what a history leaves and compares. When a seed fails, its `events` say what happened, in order.
 */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const waits: readonly [number, ...number[]] = [5 * hour, 2 * day, 12 * day, 40 * day];

export interface HistoryOptions {
  /** Whether the lifecycle removes what is too old. */
  readonly expires: boolean;
  /** Whether audits seal the archive. */
  readonly isAudited?: boolean;
}

/** What became of a collector over some weeks, all of it as the design allows. */
export interface History {
  readonly bucket: MemoryBucket;
  /** When the archive is looked at. */
  readonly now: Date;
  /**
   * Firings that left no record, because they or all of their attempts were lost, or because the schedule was another while no
   * audit looked; both instants of a time that comes twice.
   */
  readonly lost: readonly Date[];
  /** Those of them that lie between two runs of the same schedule. */
  readonly surelyLost: readonly Date[];
  /** What audits returned that were not killed. */
  readonly audits: readonly AuditResult[];
  /** What happened, for whoever looks into a failure. */
  readonly events: readonly string[];
}

/** Plays a history that depends on the seed alone. */
export async function randomHistory(seed: string, options: HistoryOptions): Promise<History> {
  const player = new Player(seededRandom(seed), options);
  await player.play();
  return player.finish();
}

class Player {
  readonly #random: Random;
  readonly #options: HistoryOptions;
  readonly #bucket = new MemoryBucket();
  readonly #events: string[] = [];
  readonly #deployments: Deployment[] = [];
  readonly #firings: Due[] = [];
  readonly #unfinished = new Set<number>();
  /** What killed invocations were told to collect, by run. */
  readonly #leftBy = new Map<number, Configuration[]>();
  /** Runs with attempts under different configurations. */
  readonly #mixed = new Set<number>();
  #failing: ReadonlySet<string> = new Set();
  #now: Date;
  /** At which instant the scheduler fires of two. */
  readonly #firesAtSecond: boolean;
  readonly #audits: RandomAudits;
  #hasRun = true;
  #isUnderWay = false;
  /** Until when the schedule was looked at. */
  #firedUntil: Date;

  constructor(random: Random, options: HistoryOptions) {
    this.#random = random;
    this.#options = options;
    this.#audits = new RandomAudits(random, this.#bucket, (what, about) => this.#note(what, about));
    // The clocks of Berlin change on 28 March and on 31 October 2027, those of New York on 14 March and on 7 November.
    this.#now = new Date(Date.UTC(2027, pick(random, [2, 5, 9]), between(random, 20, 27), between(random, 0, 23), 13));
    this.#firedUntil = this.#now;
    this.#firesAtSecond = random() < 0.5;
    this.#deploy();
  }

  get #deployed(): Deployment {
    const last = this.#deployments.at(-1);
    if (last === undefined) throw new Error('nothing is deployed');
    return last;
  }

  async play(): Promise<void> {
    for (let steps = between(this.#random, 3, 25); steps > 0; steps -= 1) {
      this.#now = new Date(this.#now.getTime() + between(this.#random, 1, 20) * minute);
      this.#loseFirings();
      const chance = this.#random();
      if (chance < 0.6) await this.#fire();
      else if (chance < 0.68) await this.#runByHand({});
      else if (chance < 0.74) await this.#runByHand(this.#someClusters());
      else if (chance < 0.82) await this.#completeEarlier();
      else if (chance < 0.92) this.#deploy();
      else
        this.#failing = new Set(
          this.#deployed.collection.clusters.flatMap(({ uid }) => (this.#random() < 0.3 ? uid : [])),
        );
      if (this.#options.isAudited) await this.#audits.perhapsAt(this.#now, this.#deployed);
    }
    if (this.#random() < 0.6) return;
    // The last run has come this far when somebody looks at the archive.
    this.#isUnderWay = true;
    this.#now = new Date(this.#now.getTime() + minute);
    this.#end([await this.#invoke({}, this.#now, between(this.#random, 0, 12))]);
  }

  async finish(): Promise<History> {
    const { expires, isAudited } = this.#options;
    const wait = this.#isUnderWay ? between(this.#random, 1, 170) * minute : pick(this.#random, waits);
    const now = new Date(this.#now.getTime() + wait);
    if (expires) this.#expire(now);
    if (isAudited && this.#random() < 0.7) {
      // An audit judges what was due up to its own time.
      this.#now = now;
      this.#loseFirings();
      await this.#audits.at(now, this.#deployed);
    }
    const lost = this.#firings.filter(({ isRecorded }) => !isRecorded);
    const played = {
      due: this.#firings,
      deployments: this.#deployments,
      mixed: this.#mixed,
      unfinished: this.#unfinished,
    };
    return {
      bucket: this.#bucket,
      now,
      lost: [...lost.map(({ at }) => at), ...this.#unseen(now)].flatMap((at) => [at, new Date(at.getTime() + hour)]),
      surelyLost: expires ? [] : surelyLost(played, now),
      audits: this.#audits.results,
      events: this.#events,
    };
  }

  /** Deploys another configuration. One that nobody runs leaves no trace in the archive, so the one before it has run. */
  #deploy(): void {
    if (!this.#hasRun) return;
    if (this.#deployments.length > 0) this.#loseFirings();
    const deployment = randomDeployment(this.#random, this.#now, this.#options.expires);
    this.#deployments.push(deployment);
    this.#hasRun = false;
    this.#note('deployed', JSON.stringify({ ...deployment.collection, service: undefined, limits: undefined }));
  }

  /** The schedule fires next; now and then the event is lost, or delivered twice. */
  async #fire(): Promise<void> {
    const deployment = this.#deployed;
    const [at] = this.#due(this.#now, new Date(this.#now.getTime() + 4 * day));
    if (at === undefined) return;
    this.#now = at;
    this.#firedUntil = at;
    const firing = { at, deployment, isRecorded: false };
    this.#firings.push(firing);
    if (this.#random() < 0.08) {
      this.#note('lost', at.toISOString());
      return;
    }
    const deliveries = this.#random() < 0.15 ? 2 : 1;
    const { shards } = deployment;
    const event = { scheduledTime: at.toISOString() };
    const parts = Array.from({ length: shards }, (_, index) =>
      shards === 1 ? event : { ...event, shard: { index, count: shards } },
    );
    const works = parts.flatMap((part) => Array.from({ length: deliveries }, () => this.#invokeWithRetries(part)));
    this.#end(await Promise.all(works));
    await this.#repair(at);
    firing.isRecorded = this.#recordsOf(at).length > 0;
  }

  /** What was due while people were at work is lost. */
  #loseFirings(): void {
    const deployment = this.#deployed;
    for (const at of this.#due(this.#firedUntil, this.#now)) this.#firings.push({ at, deployment, isRecorded: false });
    this.#firedUntil = this.#now;
  }

  /** What was due by the schedules that seals know, while one was in force that none knows. */
  #unseen(now: Date): Date[] {
    if (!this.#options.isAudited) return [];
    return this.#deployments.flatMap((one, at) => {
      const until = this.#deployments[at + 1]?.from ?? now;
      return this.#audits.sealed.has(one)
        ? []
        : [...this.#audits.sealed].flatMap((known) => this.#due(one.from, until, known));
    });
  }

  /** When the schedule fires after one time and up to another. */
  #due(from: Date, to: Date, { collection: { schedule } } = this.#deployed): Date[] {
    if (!schedule.enabled) return [];
    const firings = [...firingsOf(schedule.expression, schedule.timeZone).between(from, new Date(to.getTime() + hour))];
    const times = firings.map(({ at, orAt = at }) => (this.#firesAtSecond ? at : orAt));
    return times.filter((at) => at > from && at <= to);
  }

  /** What Lambda does with an event: three attempts. Another configuration may be deployed between them. */
  async #invokeWithRetries(event: object): Promise<Invoked> {
    let start = this.#now;
    for (let attempt = 1; ; attempt += 1) {
      const invoked = await this.#invoke(event, start, this.#random() < 0.2 ? between(this.#random, 0, 16) : undefined);
      if (invoked.outcome === 'succeeded' || attempt === 3) return invoked;
      start = new Date(invoked.end.getTime() + attempt * minute);
      if (this.#random() < 0.1) {
        this.#deploy();
        this.#mixed.add(Date.parse((event as { scheduledTime: string }).scheduledTime));
      }
    }
  }

  async #runByHand(event: object): Promise<void> {
    this.#note('by hand', JSON.stringify(event));
    const started = this.#now;
    const killedAfter = this.#random() < 0.1 ? between(this.#random, 0, 10) : undefined;
    this.#end([await this.#invoke(event, started, killedAfter)]);
    // The function's clock named the run.
    for (const run of this.#runs()) if (Math.abs(run.getTime() - started.getTime()) < 2 * hour) await this.#repair(run);
  }

  #someClusters(): object {
    const { clusters } = this.#deployed.collection;
    return {
      clusters: [clusters[0]?.uid],
      ...(this.#random() < 0.3 && { scheduledTime: this.#lastRun().toISOString() }),
    };
  }

  /** Somebody completes an earlier run, under the configuration that is deployed now. */
  async #completeEarlier(): Promise<void> {
    const runs = this.#runs().filter((run) => this.#recordsOf(run).length > 0);
    const [first, ...others] = runs;
    if (first === undefined) return;
    const run = pick(this.#random, [first, ...others]);
    this.#mixed.add(run.getTime());
    const { shards } = this.#deployed;
    const shard = shards > 1 && this.#random() < 0.5 ? { shard: { index: 0, count: shards } } : {};
    await this.#runByHand({ run: run.toISOString(), ...shard }).catch((error: Error) => {
      // The run had no record of this shard.
      if (!error.message.startsWith('Completing run')) throw error;
    });
    await this.#repair(run);
  }

  /** What killed attempts left without a record is recorded by one more attempt, under the configuration of theirs. */
  async #repair(run: Date): Promise<void> {
    const records = this.#recordsOf(run);
    const known = new Set(records.flatMap(({ outcomes }) => outcomes.filter(isStored).map(({ key }) => key)));
    const stamp = run.toISOString().replace(/[-:]/g, '');
    const left = this.#bucket
      .keys('')
      .filter((key) => !key.startsWith('runs/') && key.includes(stamp) && !known.has(key));
    const by = this.#leftBy.get(run.getTime()) ?? [];
    this.#leftBy.delete(run.getTime());
    if (left.length === 0) return;
    this.#note('repaired', `${run.toISOString()}: ${left.join(' ')}`);
    for (const collection of new Set(by))
      this.#end([await this.#invoke({ scheduledTime: run.toISOString() }, this.#now, undefined, collection)]);
  }

  async #invoke(
    event: object,
    start: Date,
    killedAfter: number | undefined,
    collection = this.#deployed.collection,
  ): Promise<Invoked> {
    const [random, failing, bucket] = [this.#random, this.#failing, this.#bucket];
    const invoked = await invoke({ bucket, collection, event, start, failing, random, killedAfter });
    this.#note(invoked.outcome, JSON.stringify(event));
    const named = (event as { scheduledTime?: string }).scheduledTime;
    if (invoked.outcome === 'killed') {
      if (named !== undefined) this.#unfinished.add(Date.parse(named));
      const run = invoked.run.getTime();
      this.#leftBy.set(run, [...(this.#leftBy.get(run) ?? []), collection]);
    }
    if (invoked.outcome !== 'killed') this.#hasRun = true;
    return invoked;
  }

  #end(works: readonly Invoked[]): void {
    this.#now = new Date(Math.max(this.#now.getTime(), ...works.map(({ end }) => end.getTime())));
  }

  /** The lifecycle removes what was too old while a deployment lasted, not all of it at once. */
  #expire(now: Date): void {
    const share = pick(this.#random, [0, 0.3, 0.7, 1]);
    for (const [key, { writtenAt }] of this.#bucket.objects) {
      if (key.startsWith('configurations/') || key.startsWith('seals/')) continue;
      const isTooOld = this.#deployments.some(({ collection: { retentionDays }, from }, at) => {
        const until = this.#deployments[at + 1]?.from ?? now;
        const isSealed = this.#deployments[at] !== undefined && this.#audits.sealed.has(this.#deployments[at]);
        // A retention that no seal knows was in force for less than a day, and the lifecycle takes about as long.
        const isUsed = this.#options.isAudited ? isSealed : at < this.#deployments.length - 1 || this.#hasRun;
        const removedAt = retentionDays === undefined ? undefined : writtenAt.getTime() + retentionDays * day;
        return isUsed && removedAt !== undefined && Math.max(removedAt, from.getTime()) < until.getTime();
      });
      if (isTooOld && this.#random() < share) this.#bucket.objects.delete(key);
    }
  }

  #runs(): Date[] {
    const stamps = this.#bucket.keys('').flatMap((key) => /(\d{8}T\d{6}\.\d{3}Z)/.exec(key)?.[1] ?? []);
    const times = stamps.map((stamp) => stamp.replace(/^(....)(..)(..)T(..)(..)/, '$1-$2-$3T$4:$5:'));
    return [...new Set(times)].sort().map((time) => new Date(time));
  }

  #lastRun(): Date {
    return this.#runs().at(-1) ?? this.#now;
  }

  #recordsOf(run: Date): RunRecord[] {
    const keys = this.#bucket.keys(runPrefix(run));
    return keys.map((key) => recordOf(this.#bucket.objects.get(key)?.body ?? ''));
  }

  #note(what: string, about: string): void {
    this.#events.push(`${this.#now.toISOString()} ${what} ${about}`);
  }
}
