import type { Finding } from '../format/finding';
import type { StringSink } from '../format/json/json-string-scanner';
import { withoutLateDoubt } from '../format/late-doubt';
import type { LogText } from '../format/log-digest';
import { LogTextCheck } from '../format/log-text';
import { headersProblem } from '../format/object-headers';
import { type MetadataName, metadataValue, type ObjectFacts } from '../format/object-metadata';
import { problems } from '../format/problems';
import { resources } from '../format/resources';
import type { Outcome, RunOutcome } from '../format/run-record';
import { isInShard } from '../format/shard';
import type { ArchiveReader } from '../read/archive-reader';
import { type OpenedContent, openContent } from '../read/open-content';
import { readingProblem, readObject } from '../read/read-whole';
import type { RunRecordObject } from '../read/run-keys';

/** What is wrong with an object whose key is known. */
type Problem = Pick<Finding, 'kind' | 'problem'>;

/** What an object says about itself, without its content. */
export type DescribedContent = Omit<OpenedContent, 'body'>;

export interface CheckedObject {
  readonly problem: Problem | undefined;
  /** Uncompressed content that was read, in bytes. */
  readonly bytes: number;
  /** Of the uncompressed content; undefined if it could not be read as what it says that it is. */
  readonly sha256?: string | undefined;
  /** Whether it has no metadata: it was compared with its run record alone. */
  readonly isBare?: boolean | undefined;
}

/**
 * Reads an object to its end and compares it with its own metadata and headers, and with its run record if there is one. If
 * the record has no hash (`already-archived`), the object's own metadata has to do.
 * @param listen called before each reading of a log; what it returns gets the text
 * @throws the reason of the reader's signal
 */
export async function checkObject(
  reader: ArchiveReader,
  key: string,
  outcome?: RunOutcome,
  listen?: () => StringSink,
): Promise<CheckedObject> {
  let bytes = 0;
  try {
    const checked = await readObject(reader, key, Number.POSITIVE_INFINITY, async (opened) => {
      bytes = 0;
      const content = openContent(key, opened);
      const text = resources[content.facts.resource].holdsLog ? new LogTextCheck(listen?.()) : undefined;
      for await (const chunk of content.body) {
        bytes += chunk.length;
        text?.write(chunk);
      }
      const { facts, isBare } = content;
      return { bytes, sha256: facts.sha256, isBare, problem: contradiction(content, outcome, text?.end()) };
    });
    return checked ?? { bytes: 0, problem: { kind: 'missing', problem: problems.notThere } };
  } catch (error) {
    return { bytes, problem: readingProblem(error) };
  }
}

/** Says that no run record has an object. @param problem what is wrong with it besides */
export function describeUnrecorded(problem: Problem | undefined): string {
  return `${problems.unrecorded}; ${problem?.problem ?? problems.asItsMetadata}`;
}

/** Of a run record: what it covers, and when it was written by the archive's clock. */
export type WrittenRecord = Pick<RunRecordObject, 'shard' | 'writtenAt'>;

/**
 * Says why an object that no run record names is not damage.
 * @param settled what was written after it may still get its record
 * @param records of its run, if they say that it was not archived: an attempt that wrote it and was killed left none, and a
 * later attempt could not know of the object
 * @returns undefined: it is damage
 */
export function describePending(
  { cluster, writtenAt }: { readonly cluster: string; readonly writtenAt: Date },
  settled: Date,
  records: readonly WrittenRecord[] = [],
): string | undefined {
  if (writtenAt > settled) return problems.justWritten;
  const isLater = records.some((record) => record.writtenAt >= writtenAt && isInShard(cluster, record.shard));
  return isLater ? problems.leftByKilledAttempt : undefined;
}

/** Names of metadata that the record has too, with what people call them. */
const compared = {
  'fetched-at': 'time of fetching',
  'media-type': 'media type',
  state: 'state',
  'record-uid': "record's uid",
  'record-last-modified': "record's time of change",
  'log-length': "log's length",
  'log-lines': "log's number of lines",
  'log-sha256': "log's SHA-256",
  doubt: 'doubt',
  sha256: 'SHA-256',
  length: 'length',
} as const satisfies Partial<Record<MetadataName, string>>;
const comparedNames = Object.keys(compared) as (keyof typeof compared)[];

/**
 * What its metadata and headers say against its run record, without its content.
 * @param text as its content has it; undefined: the object says nothing of it
 */
export function contradiction(
  content: DescribedContent,
  outcome: RunOutcome | undefined,
  text?: LogText,
): Problem | undefined {
  const { contentType } = resources[content.facts.resource];
  if (content.isBare === true) return bareProblem(content, outcome, text);
  const headers = headersProblem(content, { contentType, contentEncoding: 'gzip' });
  const different = outcome === undefined ? [] : differences(content, outcome);
  const found = headers === undefined ? [] : [headers];
  if (text !== undefined && !isTextOf(content.facts, text)) found.push(problems.otherLog);
  if (different.length > 0) found.push(problems.otherThanRecord(different));
  return found.length === 0 ? undefined : { kind: 'contradiction', problem: found.join('; ') };
}

/** What the metadata does not say, the run record cannot say either. */
function isTextOf(facts: Partial<LogText>, text: LogText): boolean {
  const names = ['logLength', 'logLines', 'logSha256'] as const;
  return names.every((name) => facts[name] === undefined || facts[name] === text[name]);
}

/** What its content says against its run record, of an object that has no metadata. */
function bareProblem({ facts, storedBytes }: DescribedContent, outcome: Outcome | undefined, text?: LogText) {
  if (outcome === undefined) return undefined;
  const { sha256 = facts.sha256, bytes = facts.length } = outcome;
  if (sha256 !== facts.sha256 || bytes !== facts.length)
    return { kind: 'damaged', problem: problems.otherContent } as const;
  const isOther =
    (outcome.outcome === 'archived' && text !== undefined && !isTextOf(outcome, text)) ||
    (outcome.storedBytes ?? storedBytes) !== storedBytes;
  const problem = problems.otherBareContent;
  return isOther ? ({ kind: 'contradiction', problem } as const) : undefined;
}

function differences({ facts, metadata, storedBytes }: DescribedContent, outcome: RunOutcome): string[] {
  const different: string[] = [];
  if (outcome.storedBytes !== undefined && outcome.storedBytes !== storedBytes) different.push('stored length');
  const said = asFacts(facts, outcome);
  const earlier = withoutLateDoubt(said.doubt);
  for (const name of comparedNames) {
    // As it is stored: long values are cut in the object, and whole in the record.
    const isSame = metadataValue(name, said) === metadata[name];
    const isEarlier =
      !isSame && name === 'doubt' && metadataValue(name, { ...said, doubt: earlier }) === metadata[name];
    if (!isSame && !isEarlier) different.push(compared[name]);
  }
  // What another attempt archived, another version may have.
  if (outcome.outcome === 'archived' && metadataValue('version', said) !== metadata.version)
    different.push('version of the collector');
  return different;
}

/**
 * The facts as the record has them. An `already-archived` outcome may lack facts, and the object's own are taken instead.
 * What an `archived` outcome lacks, the service did not say.
 */
function asFacts(facts: ObjectFacts, outcome: RunOutcome): ObjectFacts {
  const { cluster, resource, run, encodedBy } = facts;
  const { bytes, sha256, fetchedAt } = outcome;
  // One by one: an audit does this for each object, and to spread both takes several times as long.
  const { mediaType, state, recordUid, lastModified, logLength, logLines, logSha256, doubt } =
    outcome.outcome === 'archived' ? outcome : facts;
  return {
    cluster,
    resource,
    run,
    encodedBy,
    mediaType,
    state,
    recordUid,
    lastModified,
    logLength,
    logLines,
    logSha256,
    doubt,
    version: outcome.collectorVersion,
    length: bytes ?? facts.length,
    sha256: sha256 ?? facts.sha256,
    fetchedAt: fetchedAt === undefined ? facts.fetchedAt : new Date(fetchedAt),
  };
}
