import { createPublicKey } from 'node:crypto';
import { parseSealKey, sealKey } from '../../../lambda/archive/archive-layout';
import type { Finding } from '../../../lambda/verify/finding';
import type { Seal } from '../../../lambda/verify/seals/seal';
import { sealLine, sha256Of } from '../../../lambda/verify/seals/seal-file';
import { emptyState } from '../../../lambda/verify/seals/seal-state';
import { between, pick, type Random, seededRandom } from '../../../local/demo-service/seeded-random';
import { forgeRun, ofRun, remove } from './attack-tools';
import { TestKey } from './invoke-audit';
import { damageIn, look, plant, putState, SealedWorld, signed } from './sealed-world';

const firstDay = 20;
const attackersKey = new TestKey();

/** What an attacker did to one archive, by the keys of what he touched. */
interface Done {
  /** Run records that were sealed, and are not what they were. */
  readonly records: Set<string>;
  /** Files under seals/ that no audit made. */
  readonly lies: Set<string>;
  /** Seals that were deleted or replaced. */
  readonly seals: Set<string>;
  /** Whether the signing key was used for a lie. */
  hasSigned: boolean;
}

/** A story of some days, each with runs, an audit that may be killed, and now and then an attack. */
export class AttackedStory {
  readonly world = new SealedWorld();
  readonly events: string[] = [];
  readonly #random: Random;
  readonly #done: Done = { records: new Set(), lies: new Set(), seals: new Set(), hasSigned: false };
  #day = firstDay;

  constructor(seed: string) {
    this.#random = seededRandom(seed);
  }

  /** @returns what was not told, or told and not true */
  async play(): Promise<string[]> {
    const days = between(this.#random, 2, 4);
    const wrong: string[] = [];
    for (let day = 0; day < days; day += 1) {
      wrong.push(...(await this.#audit()));
      if (day === days - 1 || this.#random() < 0.4) await this.#attack();
    }
    wrong.push(...(await this.#verify()), ...(await this.#audit()));
    return wrong.length === 0 ? [] : [...wrong, ...this.events];
  }

  /** A day with its runs and its audit, which may be killed and is then tried again. */
  async #audit(): Promise<string[]> {
    const { world } = this;
    const date = `2026-11-${this.#day}`;
    await world.collectDay(this.#day);
    this.#day += 1;
    const time = `${date}T23:30:00.000Z`;
    const killedAfter = this.#random() < 0.3 ? between(this.#random, 0, 40) : undefined;
    const before = { records: [...this.#done.records], lies: this.#liesThere() };
    await world.audit(time, { killedAfter, isLastDone: this.#random() < 0.5 });
    const { result } = await world.audit(time);
    this.events.push(`audit ${result?.number} of ${date}, killed after ${killedAfter}`);
    if (result?.seal !== time) return [`the audit of ${time} has no seal`];
    const { findings } = world.state(result.number);
    return this.#unnamed(findings as Finding[], before.records, before.lies, `audit ${time}`);
  }

  async #verify(): Promise<string[]> {
    const { bucket, key, hashes } = this.world;
    const publicKeys = [createPublicKey(key.privateKey)];
    const noon = new Date(`2026-11-${this.#day}T12:00:00.000Z`);
    const withKey = await look(bucket, { publicKeys }, noon);
    const withMails = await look(bucket, { publicKeys, heads: hashes }, noon);
    const { records, lies, seals, hasSigned } = this.#done;
    const isTouched = records.size + seals.size > 0 || (lies.size > 0 && !hasSigned);
    const isTold = damageIn(withMails).length > 0;
    return [
      ...(isTouched && !isTold ? ['verify finds nothing with the key and all mails'] : []),
      ...this.#unnamed(withKey, [...records], this.#liesThere(), 'verify'),
    ];
  }

  /** What findings do not name, although it is there to be seen without a mail. */
  #unnamed(findings: readonly Finding[], records: readonly string[], lies: readonly string[], who: string): string[] {
    // Who may sign may claim what he likes; mails tell.
    if (this.#done.hasSigned) return [];
    // One finding may be of several seals: "it and those up to number 7".
    const isNamed = (key: string) =>
      findings.some(({ key: first, problem }) => {
        const last = sealKey(Number(/ up to number (\d+) /.exec(problem)?.[1] ?? 0));
        return first === key || (first < key && key <= last);
      });
    return [
      ...lies.filter((key) => !isNamed(key)).map((key) => `${who} does not name ${key}`),
      // A seal that is gone says nothing of its records any more.
      ...records.filter((key) => this.#isAltered(key) && !isNamed(key)).map((key) => `${who} does not name ${key}`),
    ];
  }

  /** Whether a seal that is there has another hash. If it was removed in time, the next audit has sealed what it found. */
  #isAltered(key: string): boolean {
    const body = this.world.bucket.objects.get(key)?.body;
    const sha256 = body && sha256Of(body);
    const sealed = this.#rightNumbers().flatMap((number) => this.world.seal(number).records);
    return sealed.some((one) => one.key === key && one.sha256 !== sha256);
  }

  #liesThere(): string[] {
    return [...this.#done.lies].filter((key) => this.world.bucket.objects.has(key));
  }

  async #attack(): Promise<void> {
    for (let count = between(this.#random, 1, 3); count > 0; count -= 1) {
      const lies = [this.#lie, this.#lie, this.#deleteSeal, this.#replaceSeal, this.#replay, this.#signLie];
      // Without a seal there is nothing that a lie could be made of.
      const acts = this.#last() === 0 ? [] : lies;
      await pick(this.#random, [this.#forge, this.#removeRun, ...acts]).call(this);
    }
  }

  /** A file under a number of its own, with claims as an audit makes them. */
  async #lie(): Promise<void> {
    const number = pick(this.#random, [this.#last() + 1, this.#last() + 2, between(this.#random, 1000, 99_999_999)]);
    if (this.world.bucket.objects.has(sealKey(number))) return;
    const content = await this.#madeUp(number);
    this.#plant(number, content);
    this.#done.lies.add(sealKey(number));
  }

  /** Whoever may use the signing key lies behind the head. */
  async #signLie(): Promise<void> {
    const last = this.#last();
    if (!this.world.bucket.objects.has(sealKey(last)) || this.world.bucket.objects.has(sealKey(last + 1))) return;
    this.#plant(last + 1, await signed(this.#claims(last + 1), this.world.key));
    this.#done.lies.add(sealKey(last + 1));
    this.#done.hasSigned = true;
  }

  async #deleteSeal(): Promise<void> {
    const key = this.#someSeal();
    if (key === undefined) return;
    this.world.bucket.objects.delete(key);
    this.#done.seals.add(key);
    this.events.push(`deleted ${key}`);
  }

  async #replaceSeal(): Promise<void> {
    const key = this.#someSeal();
    const number = key === undefined ? undefined : parseSealKey(key);
    if (key === undefined || number === undefined) return;
    this.world.bucket.rewrite(key, { body: await this.#madeUp(number) });
    this.#done.seals.add(key);
    this.#done.lies.add(key);
    this.events.push(`replaced ${key}`);
  }

  /** A right seal, as it is, under another number. */
  async #replay(): Promise<void> {
    const key = this.#someSeal();
    const number = this.#last() + 1;
    if (key === undefined || this.world.bucket.objects.has(sealKey(number))) return;
    this.#plant(number, this.world.bucket.objects.get(key)?.body ?? Buffer.alloc(0));
    this.#done.lies.add(sealKey(number));
  }

  async #forge(): Promise<void> {
    const key = this.#someRecord();
    if (key === undefined) return;
    this.#done.records.add(await forgeRun(this.world.bucket, stampOf(key)));
    // S3 itself notes the time of a writing.
    for (const one of ofRun(this.world.bucket, stampOf(key)))
      this.world.bucket.rewrite(one, { writtenAt: this.#now() });
    this.events.push(`forged ${key}`);
  }

  async #removeRun(): Promise<void> {
    const key = this.#someRecord();
    if (key === undefined) return;
    remove(this.world.bucket, ofRun(this.world.bucket, stampOf(key)));
    this.#done.records.add(key);
    this.events.push(`removed ${key}`);
  }

  /** After the audit of the day. */
  #now(): Date {
    return new Date(`2026-11-${this.#day - 1}T23:45:00.000Z`);
  }

  #plant(number: number, content: Buffer): void {
    plant(this.world.bucket, number, content, this.#now());
    this.events.push(`planted ${sealKey(number)}`);
  }

  /** A made up seal: with another key, without a signature, or with the signature of a right one. */
  async #madeUp(number: number): Promise<Buffer> {
    const claims = this.#claims(number);
    const way = this.#random();
    if (way < 0.5) return signed(claims, attackersKey);
    const line = sealLine(claims);
    const other = this.world.bucket.objects.get(this.#someSeal() ?? '')?.body ?? Buffer.from('\n');
    return Buffer.concat([line, way < 0.75 ? Buffer.from('\n') : other.subarray(other.indexOf('\n'))]);
  }

  /** What would excuse or hide something, if anybody believed it. */
  #claims(number: number): Seal {
    const random = this.#random;
    const { sha256, ...seal } = this.world.seal(this.#rightNumbers().at(-1) ?? 1);
    const times = [`2026-11-${this.#day}T23:30:00.000Z`, '2099-01-01T00:00:00.000Z', seal.seal] as const;
    const late = pick(random, times);
    const cursor = { verified: { seal: 1000, record: 0, outcome: 0 }, searchedTo: late, listing: null, reading: null };
    const failing = [{ cluster: 'x', since: late, runs: 1, last: late, lastArchived: null }];
    const lie = { ...emptyState, failing, ...(random() < 0.7 && { cursor }) };
    return {
      ...seal,
      number,
      previous: pick(random, [null, { key: sealKey(seal.number), sha256 }]),
      passedOver: [],
      passedOverMore: Math.max(0, number - seal.number - 1),
      seal: late,
      listedFrom: pick(random, times),
      records: [],
      objects: [],
      plan: { ...seal.plan, retentionDays: 1 },
      due: { runs: 0, absent: [pick(random, times)], notJudged: null },
      found: { damaged: 7 },
      state: putState(this.world.bucket, lie, this.#now()),
    };
  }

  #rightNumbers(): number[] {
    const keys = this.world.bucket.keys('seals/0').filter((key) => !this.#done.lies.has(key));
    return keys.flatMap((key) => parseSealKey(key) ?? []).sort((a, b) => a - b);
  }

  #last(): number {
    return this.#rightNumbers().at(-1) ?? 0;
  }

  #someSeal(): string | undefined {
    const [first, ...others] = this.#rightNumbers();
    return first === undefined ? undefined : sealKey(pick(this.#random, [first, ...others]));
  }

  #someRecord(): string | undefined {
    const [first, ...others] = this.world.bucket.keys('runs/').filter((key) => !this.#done.records.has(key));
    return first === undefined ? undefined : pick(this.#random, [first, ...others]);
  }
}

function stampOf(key: string): string {
  return /\d{8}T\d{6}\.\d{3}Z/.exec(key)?.[0] ?? '';
}
