import { isInShard } from '../../lambda/archive/archive-layout';
import { MergedOutcomes } from '../../lambda/run/merged-outcomes';
import { largestRecordBytes, type RunOutcome, RunRecordError, type StoredRecord } from '../../lambda/run/run-record';
import { longestLineBytes } from '../../lambda/run/run-record-lines';
import { ArchiveReadError, type ArchiveReader, DamagedObjectError, discard } from '../../lambda/verify/archive-reader';
import type { BadRecord } from '../../lambda/verify/read-run';
import { parseRecordLines } from '../../lambda/verify/read-starts';
import { chunksOf, parseJson, readObject } from '../../lambda/verify/read-whole';
import type { ListedRun, RunRecordObject } from '../../lambda/verify/run-keys';

/** What the records of one run say of one cluster. */
export interface ClusterRecord {
  readonly run: Date;
  /** Of this cluster alone. */
  readonly outcomes: readonly RunOutcome[];
  /** Records that may name the cluster and cannot be used. */
  readonly badRecords: readonly BadRecord[];
}

/**
 * Reads the records of a run that may name a cluster, each only as far as the lines of this cluster: one request for each
 * attempt of its shard. What is wrong behind these lines is for `verify` to find.
 * @throws ArchiveReadError if the reader may never read them
 */
export async function readClusterRecord(
  reader: ArchiveReader,
  { run, records }: ListedRun,
  cluster: string,
): Promise<ClusterRecord> {
  const outcomes = new MergedOutcomes();
  const badRecords: BadRecord[] = [];
  for (const object of recordsOf(records, cluster)) {
    const read = await readLines(reader, object, cluster);
    if ('problem' in read) badRecords.push(read);
    else outcomes.add(read);
  }
  return { run, outcomes: [...outcomes], badRecords };
}

/** How many bytes of records {@link readClusterRecord} reads at most. */
export function bytesOfRecords(runs: readonly ListedRun[], cluster: string): number {
  return runs
    .flatMap(({ records }) => recordsOf(records, cluster))
    .reduce((sum, { storedBytes }) => sum + storedBytes, 0);
}

/** The records that may name a cluster: those of its shard, and of attempts without shards. */
function recordsOf(records: ListedRun['records'], cluster: string): readonly RunRecordObject[] {
  return records.filter(({ shard }) => shard === undefined || isInShard(cluster, shard));
}

async function readLines(
  reader: ArchiveReader,
  object: RunRecordObject,
  cluster: string,
): Promise<StoredRecord | BadRecord> {
  const { key } = object;
  try {
    const read = await readObject(reader, key, largestRecordBytes, async ({ body, storedBytes }) => {
      const found = await findLines(chunksOf(body, storedBytes), cluster);
      discard(body);
      return parse(object, found);
    });
    return read ?? { key, kind: 'missing', problem: 'it was listed, and is no longer there' };
  } catch (error) {
    if (error instanceof RunRecordError || error instanceof DamagedObjectError)
      return { key, kind: 'damaged', problem: error.message };
    if (error instanceof ArchiveReadError) return { key, kind: 'unreadable', problem: error.message };
    throw error;
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
async function findLines(chunks: AsyncIterable<Buffer>, cluster: string): Promise<FoundLines> {
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
    }
    rest = bytes.subarray(begin);
    if (rest.length > longestLineBytes)
      throw new DamagedObjectError(`it has a line longer than ${longestLineBytes} bytes`);
  }
  if (rest.length > 0 || head === undefined) throw new DamagedObjectError('it does not end with a whole line');
  return { head, own, all };
}

function parse(object: RunRecordObject, { head, own, all }: FoundLines): StoredRecord {
  const { outcomes } = parseJson(head) as { readonly outcomes?: unknown };
  if (all !== undefined && outcomes !== all)
    throw new RunRecordError(`it is not a valid run record: it has ${all} of ${String(outcomes)} outcomes`);
  return parseRecordLines(object, head, own);
}
