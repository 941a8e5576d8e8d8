import { DamagedObjectError, parseJson } from '../format/damaged-object-error';
import type { Finding } from '../format/finding';
import type { RunRecordName } from '../format/keys';
import { MergedOutcomes } from '../format/merged-outcomes';
import { largestRecordBytes, type RunOutcome, RunRecordError, type StoredRecord } from '../format/run-record';
import { longestLineBytes, parseRunRecord } from '../format/run-record-lines';
import { isInShard } from '../format/shard';
import { type ArchiveReader, discard } from './archive-reader';
import { type AttemptStart, missingRecord, type StoredRun, startOf } from './read-run';
import { chunksOf, readingProblem, readObject } from './read-whole';
import type { ListedRun, RunRecordObject } from './run-keys';

/**
 * How and when the attempts of a run were started: the first line of each record, and nothing behind it. A record that cannot
 * be used is passed over.
 * @throws the reason of the reader's signal
 */
export async function readStarts(
  reader: ArchiveReader,
  { run, records }: ListedRun,
): Promise<Pick<StoredRun, 'run' | 'starts'>> {
  const starts: AttemptStart[] = [];
  for (const record of records) {
    const head = await readLines(reader, record);
    if (!('problem' in head)) starts.push(startOf(head, record.writtenAt));
  }
  return { run, starts };
}

/** What the records of one run say of one cluster. */
export interface ClusterRecord {
  readonly run: Date;
  /** Of this cluster alone. */
  readonly outcomes: readonly RunOutcome[];
  /** Keys of the records that may name the cluster. */
  readonly records: readonly string[];
  /** Those of them that cannot be used. */
  readonly badRecords: readonly Finding[];
  readonly starts: readonly AttemptStart[];
}

/**
 * Reads the records of a run that may name a cluster, each only as far as the lines of this cluster: one request for each
 * attempt of its shard.
 * @throws the reason of the reader's signal
 */
export async function readClusterRecord(
  reader: ArchiveReader,
  { run, records }: ListedRun,
  cluster: string,
): Promise<ClusterRecord> {
  const outcomes = new MergedOutcomes();
  const badRecords: Finding[] = [];
  const starts: AttemptStart[] = [];
  const own = recordsOf(records, cluster);
  for (const object of own) {
    const read = await readLines(reader, object, cluster);
    if ('problem' in read) badRecords.push(read);
    else {
      outcomes.add(read);
      starts.push(startOf(read, object.writtenAt));
    }
  }
  return { run, outcomes: [...outcomes], records: own.map(({ key }) => key), badRecords, starts };
}

/** How many bytes of records {@link readClusterRecord} reads at most. */
export function bytesOfRecords(runs: readonly ListedRun[], cluster: string): number {
  return runs
    .flatMap(({ records }) => recordsOf(records, cluster))
    .reduce((sum, { storedBytes }) => sum + storedBytes, 0);
}

/** The records that may name a cluster: those of its shard, and of attempts without shards. */
function recordsOf(records: ListedRun['records'], cluster: string): readonly RunRecordObject[] {
  return records.filter(({ shard }) => isInShard(cluster, shard));
}

/**
 * Reads the first line of a run record and the lines of one cluster as a record that has no others. What is wrong behind them
 * is for `verify` to find.
 * @param cluster left out: reads the first line alone
 */
export async function readLines(
  reader: ArchiveReader,
  object: RunRecordName & { readonly key: string },
  cluster?: string,
): Promise<StoredRecord | Finding> {
  const { key } = object;
  try {
    const found = await readObject(reader, key, largestRecordBytes, async ({ body, storedBytes }) => {
      const lines = await findLines(chunksOf(body, storedBytes), cluster);
      discard(body);
      return lines;
    });
    return found === undefined ? missingRecord(key) : parse(object, found);
  } catch (error) {
    return { key, ...readingProblem(error) };
  }
}

interface FoundLines {
  /** The first line, which is the run. */
  readonly head: Buffer;
  /** Those of the cluster. */
  readonly own: readonly Buffer[];
  /** How many lines the record has behind the first; undefined: it was not read to its end. */
  readonly all: number | undefined;
}

/** A line ends with LF. The lines of a cluster stand together, and each begins with its uid. */
async function findLines(chunks: AsyncIterable<Buffer>, cluster: string | undefined): Promise<FoundLines> {
  const beginning = Buffer.from(`{"cluster":${JSON.stringify(cluster)},`);
  let head: Buffer | undefined;
  const own: Buffer[] = [];
  let all = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let begin = 0;
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', begin)) {
      const line = bytes.subarray(begin, end + 1);
      begin = end + 1;
      const isOwn = head !== undefined && line.indexOf(beginning) === 0;
      if (head === undefined) head = line;
      else {
        if (isOwn) own.push(line);
        else if (own.length > 0) return { head, own, all: undefined };
        all += 1;
      }
      if (cluster === undefined) return { head, own, all: undefined };
    }
    rest = bytes.subarray(begin);
    if (rest.length > longestLineBytes)
      throw new DamagedObjectError(`it has a line longer than ${longestLineBytes} bytes`);
  }
  if (rest.length > 0 || head === undefined) throw new DamagedObjectError('it does not end with a whole line');
  return { head, own, all };
}

/** @throws RunRecordError, DamagedObjectError */
function parse(name: RunRecordName, { head, own, all }: FoundLines): StoredRecord {
  const run = parseJson(head) as { readonly outcomes?: unknown };
  if (all !== undefined && run.outcomes !== all)
    throw new RunRecordError(`it is not a valid run record: it has ${all} of ${String(run.outcomes)} outcomes`);
  const lines = Buffer.concat([Buffer.from(`${JSON.stringify({ ...run, outcomes: own.length })}\n`), ...own]);
  return parseRunRecord(name, lines);
}
