import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import type { ClusterListSource, ConfiguredCluster } from '../../../../archive/format/configuration';
import { configurationKey, runRecordKey } from '../../../../archive/format/keys';
import type { RunRecord } from '../../../../archive/format/run-record';
import { ArchiveReadError } from '../../../../archive/read';
import { type AttemptList, attemptList } from '../../../../lambda/collect/run/cluster-list';
import { PastLists } from '../../../../lambda/collect/run/past-lists';
import { readList } from '../../../../lambda/collect/run/read-list';
import { configurationStore, RecordStore } from '../../../../lambda/collect/run/record-store';
import { FakeArchive } from '../../../support/fake-archive';
import { rounds } from '../../../support/rounds';

const source: ClusterListSource = {
  ...{ from: 's3://inventory/clusters.json', leaveAfterDays: 3, mostClusters: 70, maxAgeHours: 48 },
};
const hourMs = 3_600_000;

/** An archive whose every request may fail, and does then what S3 does: it answers with an error, or breaks off. */
class FaultyArchive extends FakeArchive {
  fails: () => boolean = () => false;
  /** Keys that it refuses to give, as S3 does with what is absent where the role may not list. */
  readonly refused = new Set<string>();

  override async open(key: string) {
    if (this.fails()) throw new ArchiveReadError(`Reading ${key} failed: 503 SlowDown`);
    if (this.refused.has(key))
      throw new ArchiveReadError(`Reading ${key} failed: 403 AccessDenied`, { isLasting: true });
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

/** An archive, and the attempts that read a list and leave their records in it. */
class World {
  readonly archive = new FaultyArchive();
  readonly store = new RecordStore(this.archive, this.archive);

  /** @param bytes of the list; undefined: there is none */
  attempt(now: Date, bytes: Buffer | undefined, more: Partial<ClusterListSource> = {}, ageHours = 1) {
    const read = async () => {
      if (this.archive.fails()) throw new ArchiveReadError('Reading the list failed: 503');
      const writtenAt = new Date(now.getTime() - ageHours * hourMs);
      return bytes && { storedBytes: bytes.length, metadata: {}, bytes, writtenAt };
    };
    const past = new PastLists(this.archive);
    return attemptList({ run: now, completes: false }, { ...source, ...more }, { past, read, now });
  }

  /** Stores what an attempt stores. @returns the key of its record */
  async record(run: Date, attempt: number, { clusters, read }: AttemptList): Promise<string> {
    const text = Buffer.from(JSON.stringify({ clusters }));
    const configuration = createHash('sha256').update(text).digest('hex');
    await configurationStore(this.archive, configuration, async () => text)(new AbortController().signal);
    await this.store.write(recordOf(run, attempt, configuration, read));
    return runRecordKey({ run, attempt });
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

/** What a writer of the list does before an attempt. */
interface Step {
  readonly kind: 'edit' | 'empty' | 'cut' | 'bytes' | 'absent' | 'bad entry' | 'huge' | 'old';
  readonly hours: number;
  readonly remove: number;
  readonly add: number;
  readonly weaken: number;
  /** What becomes of the attempt. */
  readonly end: 'record' | 'killed';
  readonly retries: boolean;
  readonly faults: readonly boolean[];
  readonly damages: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('edit', 'edit', 'edit', 'edit', 'empty', 'cut', 'bytes', 'absent', 'bad entry', 'huge', 'old'),
  hours: fc.constantFrom(1, 24, 24, 24 * 7),
  remove: fc.oneof(fc.constant(0), fc.nat(4), fc.nat(40)),
  add: fc.oneof(fc.nat(6), fc.nat(60)),
  weaken: fc.oneof(fc.constant(0), fc.nat(6)),
  end: fc.constantFrom('record', 'record', 'killed'),
  retries: fc.boolean(),
  faults: fc.oneof(fc.constant([]), fc.array(fc.boolean(), { maxLength: 12 })),
  damages: fc.nat(9).map((one) => one === 0),
});

/** The list as its writer has it. */
class Writer {
  /** Uids, and whether each is optional. */
  fleet = new Map(Array.from({ length: 60 }, (_, index) => [`c-${index}`, false]));
  #next = 60;

  /** The bytes of the object; undefined: there is none. */
  write({ kind, remove, add, weaken }: Step): Buffer | undefined {
    if (kind === 'edit') {
      const uids = [...this.fleet.keys()];
      for (const uid of uids.slice(0, Math.min(remove, uids.length - 1))) this.fleet.delete(uid);
      for (let count = 0; count < add && this.fleet.size < source.mostClusters; count += 1)
        this.fleet.set(`c-${this.#next++}`, false);
      for (const uid of [...this.fleet.keys()].slice(-weaken || this.fleet.size)) this.fleet.set(uid, true);
    }
    if (kind === 'absent') return undefined;
    if (kind === 'bytes') return Buffer.from([0xff, 0xfe, 0x00]);
    const entries = [...this.fleet].map(([uid, optional]) => (optional ? { uid, optional } : uid));
    const lists = {
      empty: [],
      huge: Array.from({ length: 71 }, (_, index) => `h-${index}`),
      'bad entry': [...entries, ''],
    };
    const text = JSON.stringify(lists[kind as keyof typeof lists] ?? entries);
    return Buffer.from(kind === 'cut' ? text.slice(0, -3) : text);
  }
}

/** What a record that is there says: who was collected, and who was named as leaving on which dates. */
interface Recorded {
  readonly clusters: readonly ConfiguredCluster[];
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
}

async function play(steps: readonly Step[]): Promise<void> {
  const world = new World();
  const { archive } = world;
  const writer = new Writer();
  const recorded: Recorded[] = [];
  const keys: string[] = [];
  let now = new Date('2026-11-20T00:00:00Z');
  let attempt = 1;
  for (const one of steps) {
    attempt = one.retries ? attempt + 1 : 1;
    if (!one.retries) now = new Date(now.getTime() + one.hours * hourMs);
    const newestKey = keys.at(-1);
    if (one.damages && newestKey !== undefined && recorded.length > 1) {
      archive.stored.set(newestKey, Buffer.from('not a record\n'));
      keys.pop();
      recorded.pop();
    }
    const bytes = writer.write(one);
    const faults = [...one.faults];
    archive.fails = () => faults.shift() === true;
    const result = await world.attempt(now, bytes, {}, one.kind === 'old' ? 49 : 1).catch((error: Error) => error);
    archive.fails = () => false;
    const before = recorded.at(-1);
    // Nobody knows what is in force, or there is nothing: nothing is collected, and the attempt says so.
    if (result instanceof Error) {
      expect(before === undefined || one.faults.includes(true)).toBe(true);
      continue;
    }
    const { clusters, read } = result;
    const uids = new Set(clusters.map(({ uid }) => uid));
    expect(uids.size).toBe(clusters.length);
    expect(clusters.length).toBeLessThanOrEqual(2 * source.mostClusters);
    const isValid = read?.sha256 !== undefined && one.kind === 'edit';
    const gone = before?.clusters.filter(({ uid }) => !uids.has(uid)).map(({ uid }) => uid) ?? [];
    for (const uid of gone) expect(before?.named.get(uid)?.size).toBeGreaterThanOrEqual(3);
    if (gone.length > 0) expect(read?.left).toEqual({ count: gone.length, uids: gone });
    if (!isValid) expect(clusters).toEqual(before?.clusters);
    // What is not wholly in force is said, and what is, is not.
    const waiting = new Set(read?.waiting?.uids);
    if (isValid) expect([...writer.fleet.keys()].filter((uid) => !uids.has(uid))).toEqual([...waiting]);
    expect(read?.isInForce).toBe(isValid && waiting.size === 0);
    expect(read?.problem === undefined).toBe(read?.isInForce);
    expect(read?.since === undefined).toBe(read?.isInForce);
    expect(read?.follows?.record).toBe(before && keys.at(-1));
    if (one.end === 'killed') continue;
    keys.push(await world.record(now, attempt, result));
    const named = new Map<string, Set<string>>();
    const date = now.toISOString().slice(0, 10);
    for (const { uid, leaving } of clusters)
      if (leaving !== undefined)
        named.set(uid, new Set([...(before?.named.get(uid) ?? []), ...(isValid ? [date] : [])]));
    recorded.push({ clusters, named });
  }
}

it('nobody is left out whom runs have not named as leaving on three dates, whatever the list and the archive answer', async () => {
  const histories = fc.array(step, { minLength: 2, maxLength: 25 });
  await fc.assert(fc.asyncProperty(histories, play), rounds(1000));
}, 600_000);

const listOf = (...uids: string[]) => Buffer.from(JSON.stringify(uids));
const at = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour));

describe('what was collected before cannot be read', () => {
  /** Hourly attempts, each with one cluster more than the one before. */
  async function worldOf(records: number): Promise<World> {
    const world = new World();
    for (let hour = 0; hour < records; hour += 1) {
      const uids = Array.from({ length: hour + 1 }, (_, index) => `c-${index}`);
      await world.record(at(hour), 1, await world.attempt(at(hour), listOf(...uids)));
    }
    return world;
  }

  const spoil: [string, (world: World, key: string) => void][] = [
    ['is gone', ({ archive }, key) => archive.stored.delete(key)],
    ['is refused', ({ archive }, key) => archive.refused.add(key)],
    ['is damaged', ({ archive }, key) => archive.stored.set(key, Buffer.from('x'))],
  ];

  it.each(spoil)('and the configuration before it counts, with a remark, if the newest %s', async (_, spoilKey) => {
    const world = await worldOf(3);
    const [second, third] = world.archive.records.slice(-2);
    spoilKey(world, configurationKey(third?.configuration ?? ''));
    const { clusters, read, remarks } = await world.attempt(at(3), listOf('c-0'));
    expect(clusters.map(({ uid }) => uid)).toEqual(['c-0', 'c-1']);
    expect(read).toMatchObject({ isInForce: true, follows: { configuration: second?.configuration } });
    expect(remarks[0]).toContain('what was collected before is taken from an older run record');
  });

  it.each(
    spoil,
  )('and the list is collected, and the attempt fails at its end, if each of three %s', async (_, spoilKey) => {
    const world = await worldOf(4);
    for (const { configuration } of world.archive.records.slice(1)) spoilKey(world, configurationKey(configuration));
    const { clusters, read } = await world.attempt(at(4), listOf('c-0'));
    expect(clusters.map(({ uid }) => uid)).toEqual(['c-0']);
    expect(read).toMatchObject({ isInForce: false, problem: expect.stringContaining('nobody knows who left') });
    expect(read?.follows).toBeUndefined();
    // The next run follows this one.
    await world.record(at(4), 1, { clusters, read, remarks: [], joined: new Set() });
    expect((await world.attempt(at(5), listOf('c-0'))).read).toMatchObject({ isInForce: true });
  });
});

describe('many clusters that leave', () => {
  const fleet = Array.from({ length: 40 }, (_, index) => `c-${index}`);
  const strangers = Array.from({ length: 30 }, (_, index) => ({ uid: `s-${index}`, optional: true }));
  const until = (date: string) => strangers.map(({ uid }) => ({ uid, optional: { until: date } }));
  const optional = (uids: readonly string[]) => uids.map((uid) => ({ uid, optional: true }));
  const logsOf = (uids: readonly string[]) => uids.map((uid) => ({ uid, resources: ['log'] }));
  const bytesOf = (list: readonly unknown[]) => Buffer.from(JSON.stringify(list));

  it.each<[string, readonly unknown[], readonly unknown[], number]>([
    ['three of 40 are few', fleet, fleet.slice(3), 0],
    ['four of 40 are a tenth', fleet, fleet.slice(4), 4],
    ['two of five are less than three', fleet.slice(0, 5), fleet.slice(0, 3), 0],
    [
      'optional ones that joined before do not make them fewer',
      [...fleet, ...strangers],
      [...fleet.slice(4), ...strangers],
      4,
    ],
    ['optional ones that leave are nobody', [...fleet, ...strangers], fleet, 0],
    ['nor are those that are optional until the date of the run', [...fleet, ...until('2026-11-20')], fleet, 0],
    ['those whose last date has passed count', [...fleet, ...until('2026-11-19')], fleet, 30],
    ['who is optional now counts', fleet, [...fleet.slice(4), ...optional(fleet.slice(0, 4))], 4],
    ['who loses a resource counts', fleet, [...fleet.slice(4), ...logsOf(fleet.slice(0, 4))], 4],
    ['who is optional for longer was not required', [...fleet, ...until('2026-11-20')], [...fleet, ...strangers], 0],
  ])('%s', async (_, before, list, many) => {
    const world = new World();
    await world.record(at(0), 1, await world.attempt(at(0), bytesOf(before)));
    expect((await world.attempt(at(1), bytesOf(list))).manyLeaving).toBe(many);
  });
});

it('many clusters that leave are told for a day, although they became optional first, and a few in each run', async () => {
  const world = new World();
  const fleet = Array.from({ length: 40 }, (_, index) => `c-${index}`);
  const told: (number | undefined)[] = [];
  const steps: [hour: number, optional: number, gone: number][] = [
    [0, 0, 0],
    [1, 3, 0],
    [2, 6, 0],
    [3, 6, 6],
    [20, 6, 6],
    [26, 6, 6],
  ];
  for (const [hour, optional, gone] of steps) {
    const list = fleet.map((uid, index) => (index < optional ? { uid, optional: true } : uid)).slice(gone);
    const attempt = await world.attempt(at(hour), Buffer.from(JSON.stringify(list)));
    told.push(attempt.manyLeaving);
    await world.record(at(hour), 1, attempt);
  }
  expect(told).toEqual([0, 0, 6, 6, 6, 0]);
});

it('what somebody made up in a record does not end an attempt, whatever the list is', async () => {
  const world = new World();
  const leaving = { since: '2099-01-01T00:00:00.000Z', dates: 9, last: '2099-01-01' };
  const clusters = [{ uid: 'a' }, { uid: 'b', leaving }];
  await world.record(at(0), 1, { clusters, read: undefined, remarks: [], joined: new Set() });
  for (const list of [undefined, listOf('a'), listOf('b')])
    expect((await world.attempt(at(1), list)).clusters.map(({ uid }) => uid).sort()).toEqual(['a', 'b']);
});

describe('clusters that joined within a day', () => {
  const uids = ({ joined }: AttemptList) => [...joined];
  const attempts = async (world: World, ...lists: readonly [hour: number, ...uids: string[]][]) => {
    for (const [hour, ...list] of lists)
      await world.record(at(hour), 1, await world.attempt(at(hour), listOf(...list)));
  };

  it('are those that were not collected a day ago, on the first day by the oldest run', async () => {
    const world = new World();
    const first = await world.attempt(at(0), listOf('a', 'b'));
    expect(uids(first)).toEqual([]);
    await world.record(at(0), 1, first);
    await attempts(world, [1, 'a', 'b', 'c'], [2, 'a', 'b', 'c']);
    expect(uids(await world.attempt(at(23), listOf('a', 'c', 'd')))).toEqual(['c', 'd']);
    expect(uids(await world.attempt(at(24), listOf('a', 'c', 'd')))).toEqual(['c', 'd']);
    expect(uids(await world.attempt(at(25), listOf('a', 'c', 'd')))).toEqual(['d']);
    // Weekly runs: all that the run before had.
    expect(uids(await world.attempt(at(7 * 24), listOf('a', 'c', 'd')))).toEqual(['d']);
  });

  it('are so in a late completion too, by the time of its run', async () => {
    const world = new World();
    await attempts(world, [0, 'a'], [1, 'a', 'b'], [30, 'a', 'b', 'c']);
    const completed = (hour: number) =>
      attemptList({ run: at(hour), completes: true }, source, {
        ...{ past: new PastLists(world.archive), read: async () => undefined, now: at(40) },
      });
    expect(uids(await completed(1))).toEqual(['b']);
    expect(uids(await completed(30))).toEqual(['c']);
  });

  it.each([
    ['is refused', true],
    ['answers 503', false],
  ])('are those that the run before had not, if that of a day ago %s: the attempt goes on', async (_, isLasting) => {
    const world = new World();
    await attempts(world, [0, 'a'], [20, 'a', 'b']);
    const old = runRecordKey({ run: at(0), attempt: 1 });
    const open = world.archive.open.bind(world.archive);
    world.archive.open = async (key) => {
      if (key === old) throw new ArchiveReadError(`Reading ${key} failed`, { isLasting });
      return open(key);
    };
    const { joined, remarks, read } = await world.attempt(at(25), listOf('a', 'b', 'c'));
    expect([...joined]).toEqual(['c']);
    expect(read?.isInForce).toBe(true);
    expect(remarks.some((remark) => remark.includes('what was collected a day ago'))).toBe(!isLasting);
  });

  it('cost one more record, and no further configuration as long as nobody joins', async () => {
    const world = new World();
    await attempts(world, [0, 'a'], [1, 'a'], [26, 'a']);
    const opened: string[] = [];
    const open = world.archive.open.bind(world.archive);
    world.archive.open = async (key) => {
      opened.push(key.replace(/\/.*/, ''));
      return open(key);
    };
    await world.attempt(at(27), listOf('a'));
    expect(opened).toEqual(['runs', 'configurations', 'runs']);
  });
});

describe('clusters that are excluded', () => {
  it('are not collected with the next attempt, and are told', async () => {
    const world = new World();
    await world.record(at(0), 1, await world.attempt(at(0), listOf('a', 'b')));
    for (const list of [listOf('a', 'b'), undefined]) {
      const { clusters, read } = await world.attempt(at(1), list, { exclude: ['b'] });
      expect(clusters.map(({ uid }) => uid)).toEqual(['a']);
      expect(read?.excluded).toEqual({ count: 1, uids: ['b'] });
    }
    const none = world.attempt(at(1), listOf('a'), { exclude: ['a', 'b'] });
    await expect(none).rejects.toThrow('each of its clusters is excluded');
  });
});

describe('a list', () => {
  const problemOf = (text: string, most = 100) => {
    const read = readList(Buffer.from(text), most);
    return 'problem' in read ? read.problem : undefined;
  };

  it('says what is wrong with it, by path, and stops at fifty problems', () => {
    const problem = problemOf(JSON.stringify(Array.from({ length: 60 }, () => '')));
    expect(problem?.split('\n')).toHaveLength(52);
    expect(problem).toContain('[0]: received "", expected a uid that is not empty');
    expect(problem).toContain('… and what stands behind them, which was not looked at');
  });

  it.each<[string, string, RegExp]>([
    ['more entries than a run can finish', '[0,"a",{}]', /no run can finish its 3 clusters: at most 2/],
    ['lists in lists', '[[[[]]]]', /its entries are not those of a list/],
    ['something else than a list', '{"clusters":["a"]}', /it is not a list of clusters/],
    ['an entry twice', '["a",{"uid":"a"}]', /\[1\]: received "a", expected each uid once \(it is at \[0\] already\)/],
    ['nobody', '[]', /expected at least one cluster/],
    ['a line end in a uid', '["a\\nb"]', /expected a uid without control characters/],
    [
      'a marker of its own',
      '[{"uid":"a","leaving":{"since":"2026-11-20T00:00:00.000Z","dates":9}}]',
      /leaving: received an unknown/,
    ],
    ['text that does not end', '["a', /it is not JSON in UTF-8/],
    [
      'a date that no calendar has',
      '[{"uid":"a","optional":{"until":"2026-11-31"}}]',
      /\[0\]\.optional\.until: received "2026-11-31", expected a date such as/,
    ],
  ])('is refused with %s', (_, text, expected) => {
    expect(problemOf(text, 2)).toMatch(expected);
  });

  it('may have an end of being optional, beside all other members', () => {
    const all = { projectUid: 'p', requestId: 'r', resources: ['log', 'manifest'], optional: { until: '2026-12-31' } };
    const clusters = Array.from({ length: 20_000 }, (_, index) => ({ uid: `c-${index}`, ...all }));
    expect(readList(Buffer.from(JSON.stringify(clusters)), 20_000)).toEqual({ clusters });
  });

  it('counts a comma in a text as text', () => {
    expect(readList(Buffer.from('["a,b\\",c"]'), 1)).toMatchObject({ clusters: [{ uid: 'a,b",c' }] });
  });

  it('of ten million empty entries is refused before anything is made of them', () => {
    const started = process.memoryUsage().heapUsed;
    expect(problemOf(`[${'{},'.repeat(10_000_000)}0]`, 1_000_000)).toContain('no run can finish its 10000001 clusters');
    // As objects they would be 500 MB and more; the text and what reads it leave garbage of tens of megabytes.
    expect(process.memoryUsage().heapUsed - started).toBeLessThan(250 * 1024 * 1024);
  });
});
