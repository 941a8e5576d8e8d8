import { createPublicKey } from 'node:crypto';
import { damageKinds } from '../../../archive/format/finding';
import {
  objectKey,
  parseObjectKey,
  parseRunRecordKey,
  percentEncode,
  runRecordKey,
} from '../../../archive/format/keys';
import { openDamage } from '../../../archive/prove/seals/open-damage';
import { between, pick, type Random, seededRandom } from '../../../local/demo-service/seeded-random';
import type { MemoryObject } from '../../archive/prove/history/memory-bucket';
import { look, plan, SealedWorld } from './sealed-world';
import { unsignedAttacks } from './unsigned-attacks';

/** Something that was done to an archive, and can be undone. */
interface Damage {
  readonly kind: string;
  readonly key: string;
  /** What was there before; undefined: nothing. */
  readonly before: MemoryObject | undefined;
  isRepaired: boolean;
}

/** Two days in which nobody does anything: an audit may have had no time for what was done last. */
const quietDays = 3;

/**
 * Some days, each with damage, repairs, acknowledgements and an audit, which may be killed or have too little time; and with
 * attacks by whoever may write and delete everything, and cannot sign.
 */
export class DamageStory {
  readonly #world = new SealedWorld();
  readonly #events: string[] = [];
  readonly #random: Random;
  /** What is damaged, or was and is still open, by key. */
  readonly #damages = new Map<string, Damage>();
  #acknowledged: { kind: string; key: string; why: string }[] = [];
  /** Runs that failed in part. */
  readonly #incomplete: string[] = [];
  #day = 1;
  /** Whether more was done than `damages` has. */
  #isAttacked = false;
  /** Number of the last audit's seal. */
  #last = 0;

  constructor(seed: string) {
    this.#random = seededRandom(seed);
  }

  /** @returns how what is open at the end differs from what is damaged, not repaired, and not acknowledged */
  async play(): Promise<string[]> {
    await this.#live();
    for (let days = between(this.#random, 2, 8); days > 0; days -= 1) {
      for (let acts = between(this.#random, 0, 3); acts > 0; acts -= 1) await this.#act();
      await this.#live(this.#random() < 0.3 ? { killedAfter: between(this.#random, 0, 60) } : {});
    }
    for (let days = quietDays; days > 0; days -= 1) await this.#live({}, true);
    const wrong = await this.#compare();
    return wrong.length === 0 ? [] : [...wrong, ...this.#events];
  }

  /** A day with a run and its audit. */
  async #live(more: { readonly killedAfter?: number } = {}, isQuiet = false): Promise<void> {
    const date = `2026-11-${String(this.#day).padStart(2, '0')}`;
    this.#day += 1;
    const run = `${date}T06:00:00.000Z`;
    const isIncomplete = this.#random() < 0.3;
    if (isIncomplete) this.#incomplete.push(run);
    await this.#world.collect(run, isIncomplete ? ['b'] : []);
    const outOfTime = this.#random() < 0.2 && more.killedAfter === undefined && !isQuiet;
    const options = outOfTime ? { outOfTimeAfter: between(this.#random, 0, 60) } : more;
    const acknowledged = this.#acknowledged;
    const { result } = await this.#world.audit(`${date}T23:30:00.000Z`, {
      ...options,
      plan: { ...plan, rereadDays: 1, acknowledged },
    });
    this.#last = result?.number ?? this.#last;
    this.#events.push(`audit ${result?.number} of ${date}, ${JSON.stringify(options)}, damage ${result?.damage}`);
  }

  /** The law: what is open at the end is what verify finds. And that is what was damaged, with what follows from it. */
  async #compare(): Promise<string[]> {
    const { bucket } = this.#world;
    const number = this.#last;
    bucket.clock = new Date('2026-11-29T12:00:00Z');
    const damaged = [...this.#damages.values()].filter((one) => !one.isRepaired);
    const isKnown = new Set(this.#acknowledged.map(nameOf));
    const { findings, acknowledged } = openDamage({ ...this.#world.seal(number), ...this.#world.state(number) });
    // The key that is kept: without it, verify trusts whoever signed the first seal.
    const found = await look(bucket, { publicKeys: [createPublicKey(this.#world.key.privateKey)] });
    const verified = found.filter(({ kind }) => damageKinds.includes(kind)).map(nameOf);
    const open = [...findings, ...acknowledged].map(nameOf);
    // What stands in a run record that is damaged too nobody can tell.
    const isHidden = (key: string) =>
      this.#isAttacked || damaged.some((one) => one.key !== key && runOf(one.key) === runOf(key));
    return [
      ...differences('the last seal has open', open, verified),
      ...differences(
        'it has acknowledged',
        acknowledged.map(nameOf),
        verified.filter((name) => isKnown.has(name)),
      ),
      ...damaged.flatMap(({ key }) =>
        isHidden(key) || found.some((one) => one.key === key) ? [] : `verify finds not: ${key}`,
      ),
    ];
  }

  async #act(): Promise<void> {
    const acts: readonly [() => unknown, ...(() => unknown)[]] = [
      this.#damage,
      this.#damage,
      this.#repair,
      this.#repair,
      this.#acknowledge,
      this.#completeLate,
      this.#attack,
      this.#attack,
    ];
    await pick(this.#random, acts).call(this);
  }

  async #attack(): Promise<void> {
    const [[first, ...others], now] = [Object.entries(unsignedAttacks), this.#now()];
    if (first === undefined) return;
    const [name, attack] = pick(this.#random, [first, ...others]);
    this.#events.push(name);
    await attack(this.#world, this.#random, now);
    this.#isAttacked = true;
  }

  #damage(): void {
    const { bucket } = this.#world;
    const acts = [this.#corrupt, this.#remove, this.#changeType, this.#forge, this.#plant, this.#plantObject] as const;
    // What becomes of a run record before it is sealed, no audit can know.
    const sealed = this.#world.sealedRecords().filter((key) => bucket.objects.has(key));
    const [first, ...others] = [...bucket.keys('logs/'), ...sealed, ...bucket.keys('configurations/')].filter(
      (key) => !this.#isTouched(key),
    );
    if (first === undefined) return;
    const key = pick(this.#random, [first, ...others]);
    pick(this.#random, acts).call(this, key);
  }

  /** Each key once: it can be put back as it was. */
  #isTouched(key: string): boolean {
    return [...this.#damages.values()].some((one) => !one.isRepaired && one.key === key);
  }

  #corrupt(key: string): void {
    this.#do('damaged', key, () => this.#world.bucket.corrupt(key, (body) => body.subarray(1)));
  }

  #remove(key: string): void {
    // The next run brings its configuration back. Of what a killed attempt put, and no record names, nobody can know it is gone.
    if (key.startsWith('configurations/') || (key.startsWith('logs/') && !this.#isRecorded(key))) return;
    this.#do('missing', key, () => this.#world.bucket.objects.delete(key));
  }

  #isRecorded(key: string): boolean {
    const { bucket } = this.#world;
    return [...bucket.keys('runs/')].some((record) => bucket.objects.get(record)?.body.includes(`"key":"${key}"`));
  }

  #changeType(key: string): void {
    this.#do('contradiction', key, () => this.#rewrite(key, { contentType: 'text/html' }));
  }

  #forge(key: string): void {
    if (!key.startsWith('runs/')) return;
    const forged = (body: Buffer = Buffer.alloc(0)) =>
      Buffer.from(String(body).replace('"invocation":"i"', '"invocation":"j"'));
    this.#do('forged', key, () => this.#rewrite(key, { body: forged(this.#world.bucket.objects.get(key)?.body) }));
  }

  #plant(): void {
    const key = pick(this.#random, ['runs/junk', 'runs/date=2026-11-01/junk', 'seals/junk', 'seals/1.jsonl']);
    if (this.#isTouched(key)) return;
    const object = { key, content: Buffer.from('junk'), contentType: 'text/plain' };
    this.#do('unrecorded', key, () => this.#world.bucket.put(object, this.#now()));
  }

  /** An object that agrees with itself, under a run of any day: of a cluster that is configured, or of a new one. */
  #plantObject(): void {
    const { bucket } = this.#world;
    const [first, ...others] = bucket.keys('logs/');
    const from = first === undefined ? undefined : pick(this.#random, [first, ...others]);
    const name = from === undefined ? undefined : parseObjectKey(from);
    const object = from === undefined ? undefined : bucket.objects.get(from);
    if (name === undefined || object === undefined) return;
    const cluster = pick(this.#random, ['b', 'new', 'zz z']);
    const key = objectKey({
      ...name,
      cluster,
      run: new Date(name.run.getTime() + between(this.#random, 0, 1) * 3_600_000),
    });
    if (bucket.objects.has(key) || this.#isTouched(key)) return;
    const metadata = {
      ...object.metadata,
      'cluster-uid': percentEncode(cluster),
      run: parseObjectKey(key)?.run.toISOString() ?? '',
    };
    this.#do('unrecorded', key, () => bucket.objects.set(key, { ...object, metadata, writtenAt: this.#now() }));
  }

  /** Somebody completes an earlier run, and the attempt is killed, mostly before its record. */
  async #completeLate(): Promise<void> {
    const [first, ...others] = this.#incomplete;
    if (first === undefined) return;
    const run = pick(this.#random, [first, ...others]);
    // It goes on from what the records of the run say; without any there is nothing to complete.
    const record = this.#world.bucket.objects.get(runRecordKey({ run: new Date(run), attempt: 1 }));
    if (record?.body.subarray(0, 1).toString() !== '{') return;
    const time = this.#now().toISOString();
    const killedAfter = between(this.#random, 4, 12);
    this.#events.push(`completed ${run} at ${time}, killed after ${killedAfter}`);
    await this.#world.collect(time, [], { run }, killedAfter);
  }

  #do(kind: string, key: string, act: () => unknown): void {
    const before = this.#world.bucket.objects.get(key);
    act();
    this.#damages.set(key, { kind, key, before, isRepaired: false });
    this.#events.push(`${kind} ${key}`);
  }

  /** S3 itself notes the time of a writing. */
  #rewrite(key: string, changes: Partial<MemoryObject>): void {
    this.#world.bucket.rewrite(key, { ...changes, writtenAt: this.#now() });
  }

  /** Brings back the former version, or deletes what there was none of. */
  #repair(): void {
    const [first, ...others] = [...this.#damages.values()].filter((one) => !one.isRepaired);
    if (first === undefined) return;
    const one = pick(this.#random, [first, ...others]);
    if (one.before === undefined) this.#world.bucket.objects.delete(one.key);
    else this.#world.bucket.objects.set(one.key, one.before);
    one.isRepaired = true;
    this.#events.push(`repaired ${one.key}`);
  }

  /** Acknowledges one, or takes one back. */
  #acknowledge(): void {
    const [first, ...others] = this.#damages.values();
    if (first === undefined) return;
    const { kind, key } = pick(this.#random, [first, ...others]);
    const without = this.#acknowledged.filter((one) => one.key !== key);
    const isTakenBack = without.length < this.#acknowledged.length;
    this.#acknowledged = isTakenBack ? without : [...without, { kind, key, why: 'it is known' }];
    this.#events.push(`${isTakenBack ? 'took back' : 'acknowledged'} ${kind} ${key}`);
  }

  /** Noon before the audit of the day. */
  #now(): Date {
    return new Date(`2026-11-${String(this.#day).padStart(2, '0')}T01:00:00.000Z`);
  }
}

function nameOf({ kind, key }: { readonly kind: string; readonly key: string }): string {
  return `${kind} ${key}`;
}

function runOf(key: string): number | undefined {
  return (parseObjectKey(key) ?? parseRunRecordKey(key))?.run.getTime();
}

function differences(what: string, seen: readonly string[], expected: readonly string[]): string[] {
  return [
    ...seen.filter((one) => !expected.includes(one)).map((one) => `${what}, wrongly: ${one}`),
    ...expected.filter((one) => !seen.includes(one)).map((one) => `${what} not: ${one}`),
  ];
}
