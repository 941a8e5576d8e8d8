import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { configurationKey, runRecordKey } from '../../../../archive/format/keys';
import { hashOfLeaving } from '../../../../archive/format/next-list';
import { PastLists } from '../../../../archive/format/past-lists';
import type { RunRecord } from '../../../../archive/format/run-record';
import { ArchiveReadError } from '../../../../archive/read';
import { attemptList } from '../../../../lambda/collect/run/cluster-list';
import { recordsIn } from '../../../../lambda/collect/run/past-records';
import { readList } from '../../../../lambda/collect/run/read-list';
import { configurationStore, RecordStore } from '../../../../lambda/collect/run/record-store';
import { FakeArchive } from '../../../support/fake-archive';
import { rounds } from '../../../support/rounds';

const source = { from: 's3://inventory/clusters.json', maxRemovedPercent: 10, mostClusters: 200, maxAgeHours: 48 };
const hourMs = 3_600_000;

/** An archive whose every request may fail, and does then what S3 does: it answers with an error, or breaks off. */
class FaultyArchive extends FakeArchive {
  fails: () => boolean = () => false;

  override async open(key: string) {
    if (this.fails()) throw new ArchiveReadError(`Reading ${key} failed: 503 SlowDown`);
    const stored = await super.open(key);
    return this.fails() && stored !== undefined ? { ...stored, body: Readable.from(brokenOff()) } : stored;
  }

  override async *list(prefix: string) {
    if (this.fails()) throw new ArchiveReadError(`Listing ${prefix} failed: 503 SlowDown`);
    yield* super.list(prefix);
  }
}

async function* brokenOff(): AsyncGenerator<Buffer> {
  yield Buffer.from('{"version":1,');
  throw new Error('the connection broke off');
}

/** What a writer of the list does before an attempt. */
interface Step {
  readonly kind: 'edit' | 'empty' | 'cut' | 'bytes' | 'absent' | 'bad entry' | 'huge' | 'old';
  /** Whether the writer begins with what is in force. */
  readonly reverts: boolean;
  readonly remove: number;
  readonly add: number;
  readonly weaken: number;
  readonly consent: 'none' | 'right' | 'wrong';
  /** What becomes of the attempt. */
  readonly end: 'record' | 'killed';
  readonly retries: boolean;
  readonly faults: readonly boolean[];
  readonly damages: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('edit', 'edit', 'edit', 'edit', 'empty', 'cut', 'bytes', 'absent', 'bad entry', 'huge', 'old'),
  reverts: fc.boolean(),
  remove: fc.oneof(fc.constant(0), fc.nat(4), fc.nat(40)),
  add: fc.nat(6),
  weaken: fc.oneof(fc.constant(0), fc.nat(6)),
  consent: fc.constantFrom('none', 'none', 'right', 'wrong'),
  end: fc.constantFrom('record', 'record', 'killed'),
  retries: fc.boolean(),
  faults: fc.oneof(fc.constant([]), fc.array(fc.boolean(), { maxLength: 12 })),
  damages: fc.nat(9).map((one) => one === 0),
});

type Fleet = Map<string, boolean>;

/** A history of an archive and of its list, and a model that knows no list but valid ones. */
class History {
  readonly archive = new FaultyArchive();
  readonly store = new RecordStore(this.archive, this.archive);
  /** Uids as the writer has them, and whether each is optional. */
  fleet: Fleet = new Map(Array.from({ length: 60 }, (_, index) => [`c-${index}`, false]));
  now = new Date('2026-11-20T00:00:00Z');
  attempt = 1;
  #next = 60;
  /** What runs collected, with when they did and which clusters they held. */
  readonly inForce: { readonly at: number; readonly fleet: Fleet }[] = [];
  readonly keys: string[] = [];

  edit({ reverts, remove, add, weaken }: Step): void {
    if (reverts) this.fleet = new Map(this.inForce.at(-1)?.fleet ?? this.fleet);
    const uids = [...this.fleet.keys()];
    for (const uid of uids.slice(0, Math.min(remove, uids.length - 1))) this.fleet.delete(uid);
    for (let count = 0; count < add; count += 1) this.fleet.set(`c-${this.#next++}`, false);
    for (const uid of [...this.fleet.keys()].slice(-weaken || this.fleet.size)) this.fleet.set(uid, true);
  }

  /** The bytes of the object; undefined: there is none. */
  bytesOf({ kind, consent }: Step): Buffer | undefined {
    if (kind === 'absent') return undefined;
    if (kind === 'bytes') return Buffer.from([0xff, 0xfe, 0x00]);
    const entries = [...this.fleet].map(([uid, optional]) => (optional ? { uid, optional } : uid));
    const clusters = {
      empty: [],
      huge: Array.from({ length: 201 }, (_, index) => `h-${index}`),
      'bad entry': [...entries, ''],
    };
    const written = clusters[kind as keyof typeof clusters] ?? entries;
    const hashes = {
      none: undefined,
      wrong: '0'.repeat(64),
      right: hashOfLeaving(leavers(this.inForce.at(-1)?.fleet, this.fleet)),
    };
    const leaving = hashes[consent];
    const text = JSON.stringify(leaving === undefined ? written : { clusters: written, leaving });
    return Buffer.from(kind === 'cut' ? text.slice(0, -3) : text);
  }
}

const weight = (fleet: Fleet, uid: string) => (fleet.has(uid) ? (fleet.get(uid) === true ? 1 : 2) : 0);

function leavers(before: Fleet = new Map(), after: Fleet): string[] {
  const left = [...before.keys()].filter((uid) => weight(after, uid) < weight(before, uid));
  return left.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

async function play(steps: readonly Step[]): Promise<void> {
  const history = new History();
  const { archive, store, inForce } = history;
  for (const one of steps) {
    history.attempt = one.retries ? history.attempt + 1 : 1;
    if (!one.retries) history.now = new Date(history.now.getTime() + hourMs);
    if (one.kind === 'edit') history.edit(one);
    const newestKey = history.keys.at(-1);
    if (one.damages && newestKey !== undefined && inForce.length > 1) {
      archive.stored.set(newestKey, Buffer.from('not a record\n'));
      history.keys.pop();
      inForce.pop();
    }
    const bytes = history.bytesOf(one);
    const faults = [...one.faults];
    archive.fails = () => faults.shift() === true;
    const listFails = archive.fails();
    const read = async () => {
      if (listFails) throw new ArchiveReadError('Reading failed: 503');
      const writtenAt = new Date(history.now.getTime() - (one.kind === 'old' ? 49 : 1) * hourMs);
      return bytes && { storedBytes: bytes.length, metadata: {}, bytes, writtenAt };
    };
    const past = new PastLists(recordsIn(archive));
    const run = history.now;
    const result = await attemptList({ run, completes: false }, source, { past, read, now: run }).catch(
      (error: Error) => error,
    );
    archive.fails = () => false;
    const before = inForce.at(-1);
    // Nobody knows what is in force, or there is nothing: nothing is collected, and the attempt says so.
    if (result instanceof Error) {
      expect(before === undefined || one.faults.includes(true)).toBe(true);
      continue;
    }
    const collected: Fleet = new Map(result.clusters.map(({ uid, optional = false }) => [uid, optional]));
    const isValid = !listFails && one.kind === 'edit';
    expect(collected.size).toBeGreaterThan(0);
    const written = isValid ? history.fleet : (before?.fleet ?? new Map());
    const gone = leavers(before?.fleet, collected);
    // No cluster leaves but by a list that is valid and in force, and consented to where that is needed.
    if (gone.length > 0) {
      expect(gone).toEqual(leavers(before?.fleet, written));
      const recent = inForce.filter(({ at }) => at >= run.getTime() - 24 * hourMs).map(({ fleet }) => fleet);
      const lists = [...recent, before?.fleet ?? new Map()];
      const most = Math.max(...lists.map(({ size }) => size));
      const isFew = (fleet: Fleet) => leavers(fleet, written).length <= Math.max(3, Math.floor(most / 10));
      const largest = lists.filter(({ size }) => size === most);
      expect(one.consent === 'right' || (gone.length <= Math.max(3, most / 10) && largest.some(isFew))).toBe(true);
    }
    // What is new counts at once.
    if (isValid) expect([...written.keys()].filter((uid) => !collected.has(uid))).toEqual([]);
    // What is refused is said, and what is not is not.
    expect(result.read?.isInForce).toBe(
      JSON.stringify([...collected].sort()) === JSON.stringify([...written].sort()) && isValid,
    );
    expect(result.read?.problem === undefined).toBe(result.read?.isInForce);
    expect(result.read?.since === undefined).toBe(result.read?.isInForce);
    const text = Buffer.from(JSON.stringify({ clusters: result.clusters }));
    const configuration = createHash('sha256').update(text).digest('hex');
    await configurationStore(archive, configuration, async () => text)(new AbortController().signal);
    if (one.end === 'killed') continue;
    const name = await store.write(recordOf(run, history.attempt, configuration, result.read));
    history.keys.push(runRecordKey(name));
    inForce.push({ at: run.getTime(), fleet: collected });
    expect(
      JSON.parse(gunzipSync(archive.stored.get(configurationKey(configuration)) as Buffer).toString()).clusters,
    ).toHaveLength(collected.size);
  }
}

function recordOf(run: Date, attempt: number, configuration: string, clusterList: RunRecord['clusterList']): RunRecord {
  const at = run.toISOString();
  return {
    version: 1,
    run: at,
    attempt,
    trigger: 'schedule',
    startedAt: at,
    finishedAt: at,
    collectorVersion: '1.0.0',
    functionVersion: '1',
    invocation: 'test',
    configuration,
    clusterList,
    status: 'complete',
    counts: { archived: 0, alreadyArchived: 0, failed: 0, notAttempted: 0 },
    outcomes: [],
  };
}

it('no cluster is left out unless a list left it out that was valid, in force, and consented to where that is needed', async () => {
  const histories = fc.array(step, { minLength: 2, maxLength: 25 });
  await fc.assert(fc.asyncProperty(histories, play), rounds(1000));
}, 60_000);

it('a list says all that is wrong with it, by path, and no more than fifty problems', () => {
  const wrong = readList(Buffer.from(JSON.stringify({ clusters: Array.from({ length: 60 }, () => ''), leaving: 'x' })));
  expect('problem' in wrong && wrong.problem.split('\n')).toHaveLength(52);
  expect('problem' in wrong && wrong.problem).toContain('clusters[0]: received "", expected a uid that is not empty');
});
