import { hashOfLeaving, leaversOf, nextList, removalHours } from '../list/next-list';
import type { StoredRecord } from '../run/run-record';
import { hourMs } from '../time-limits';
import type { ArchiveReader } from './archive-reader';
import { newestFirst } from './newest-first';
import { readHead } from './read-starts';
import { type Period, type RunRecordObject, runsBetween } from './run-keys';
import type { SealedArchive } from './seals/sealed-archive';
import { configuredClusters, type RunConfiguration, type StoredConfigurations } from './stored-configurations';

/** A run record with its configuration. */
interface ConfiguredRecord extends RunRecordObject {
  readonly record: StoredRecord;
  readonly configuration: RunConfiguration | undefined;
}

export interface ListStepsContext {
  readonly configurations: StoredConfigurations;
  readonly sealed: Pick<SealedArchive, 'removablePercent'>;
}

/** How long before an attempt started it may have read which list is in force. */
const readBeforeMs = 5 * 60_000;

/** Clusters that a problem names. */
const mostNamed = 5;

/**
 * Judges the lists of clusters of one run, by the rules that the collector obeys: whoever has its rights could name any
 * configuration. What was in force is looked up beside the run, so that the judgement of one run is the same in every stretch.
 * @returns for each record whose list leaves clusters out that may not have left, its key and what is wrong
 */
export async function judgeListSteps(
  reader: ArchiveReader,
  own: readonly ConfiguredRecord[],
  { configurations, sealed }: ListStepsContext,
): Promise<{ readonly key: string; readonly problem: string }[]> {
  const judged = own.flatMap((one) => {
    const { configuration, record } = one;
    const percent = configuration && (sealed.removablePercent(record.finishedAt) ?? configuration.maxRemovedPercent);
    return percent === undefined || configuration === undefined ? [] : [{ ...one, configuration, percent }];
  });
  const problems: { key: string; problem: string }[] = [];
  const heads = new Map<string, StoredRecord | undefined>(own.map(({ key, record }) => [key, record]));
  const headOf = async (object: RunRecordObject) => {
    if (!heads.has(object.key)) heads.set(object.key, await readHead(reader, object));
    return heads.get(object.key);
  };
  const listOf = async ({ configuration }: StoredRecord) => {
    const found = await configurations.get(configuration);
    return found && configuredClusters(found);
  };
  for (const { key, record, configuration, percent } of judged) {
    // What a record says of its start it may have made up: no attempt starts before the time of its run.
    const startedAt = new Date(record.startedAt > record.run ? record.startedAt : record.run);
    const before = (await recordsBefore(reader, startedAt)).filter((other) => other.key !== key);
    const candidates = await candidatesOf(before, own, { ...record, startedAt: startedAt.toISOString() }, headOf);
    if (candidates === undefined || candidates.length === 0) continue;
    if (candidates.some((one) => one.configuration === record.configuration)) continue;
    const clusters = configuredClusters(configuration);
    const lists = await Promise.all(candidates.map(listOf));
    // Without one of them nobody can tell.
    if (lists.some((inForce) => inForce === undefined || leaversOf(inForce, clusters).length === 0)) continue;
    const largest = await largestOf(before, startedAt, headOf, listOf);
    const isAllowed = (inForce: (typeof lists)[number] = []) => {
      const most = largest.length > inForce.length ? largest : inForce;
      const step = { inForce, largest: most };
      const { withheld } = nextList(
        step,
        { clusters, leaving: record.clusterList?.leaving },
        { maxRemovedPercent: percent },
      );
      return withheld.length === 0;
    };
    if (lists.some(isAllowed)) continue;
    const left = leaversOf(lists[0] ?? [], clusters);
    const names = `${left.slice(0, mostNamed).join(', ')}${left.length > mostNamed ? ', …' : ''}`;
    const problem = `${left.length} clusters left the list in force without consent: ${names} (consent would be ${hashOfLeaving(left)})`;
    problems.push({ key, problem });
  }
  return problems;
}

/** Records of runs up to a time: those of the last hours that count, and at least those of one run; the newest first. */
async function recordsBefore(reader: ArchiveReader, to: Date): Promise<RunRecordObject[]> {
  const from = new Date(to.getTime() - removalHours * hourMs);
  const records: RunRecordObject[] = [];
  let last: number | undefined;
  for await (const object of recordsNewestFirst(reader, { to }, to)) {
    const run = object.run.getTime();
    if (last !== undefined && run !== last && (run < from.getTime() || last < from.getTime())) break;
    last = run;
    records.push(object);
  }
  return records;
}

/** Run records in the order in which the collector looks for the list in force: of a run the last attempt first. */
export async function* recordsNewestFirst(reader: ArchiveReader, period: Period, now: Date) {
  const index = ({ shard }: RunRecordObject) => shard?.index ?? -1;
  const newestAttempt = (a: RunRecordObject, b: RunRecordObject) => b.attempt - a.attempt || index(b) - index(a);
  for await (const { records } of newestFirst((part) => runsBetween(reader, part), period, now))
    yield* [...records].sort(newestAttempt);
}

/**
 * The records of which one has the list that was in force for an attempt: the newest that was there for certain, those that may
 * have been there, and those of its own run. Undefined: one of them cannot be read, and nobody can tell.
 */
async function candidatesOf(
  before: readonly RunRecordObject[],
  own: readonly ConfiguredRecord[],
  { startedAt, attempt, shard }: StoredRecord,
  headOf: (object: RunRecordObject) => Promise<StoredRecord | undefined>,
): Promise<StoredRecord[] | undefined> {
  const isOther = (one: StoredRecord) => one.attempt !== attempt || one.shard?.index !== shard?.index;
  const candidates = own.map(({ record }) => record).filter((one) => isOther(one) && one.startedAt <= startedAt);
  for (const object of before) {
    const head = await headOf(object);
    if (head === undefined) return undefined;
    if (head.finishedAt > startedAt) continue;
    candidates.unshift(head);
    if (Date.parse(head.finishedAt) < Date.parse(startedAt) - readBeforeMs) break;
  }
  return candidates;
}

/** The largest list of the runs within the hours that count. */
async function largestOf<List extends readonly unknown[]>(
  before: readonly RunRecordObject[],
  startedAt: Date,
  headOf: (object: RunRecordObject) => Promise<StoredRecord | undefined>,
  listOf: (record: StoredRecord) => Promise<List | undefined>,
): Promise<List | readonly never[]> {
  const from = startedAt.getTime() - removalHours * hourMs;
  // The shards of an attempt have one list, unless it changed meanwhile.
  const attempts = new Map(before.map((object) => [`${object.run.getTime()} ${object.attempt}`, object]));
  const configurations = new Map<string, StoredRecord>();
  for (const object of attempts.values()) {
    const head = object.run.getTime() >= from ? await headOf(object) : undefined;
    if (head !== undefined && Date.parse(head.finishedAt) < startedAt.getTime() - readBeforeMs)
      configurations.set(head.configuration, head);
  }
  let largest: List | readonly never[] = [];
  for (const head of configurations.values()) {
    const list = await listOf(head);
    if (list !== undefined && list.length > largest.length) largest = list;
  }
  return largest;
}
