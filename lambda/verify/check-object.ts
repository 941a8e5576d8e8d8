import { type ObjectFacts, objectMetadata } from '../archive/object-metadata';
import type { Outcome, RunOutcome } from '../run/run-record';
import type { ArchiveReader } from './archive-reader';
import { damageOf, type OpenedContent, openContent, UnreadableCompressionError } from './open-content';

/**
 * What is wrong with a recorded object. `contradiction`: it is whole, but it and the record do not say the same.
 * `unreadable`: it could not be read, which says nothing about it.
 */
export interface ObjectProblem {
  readonly kind: 'missing' | 'damaged' | 'contradiction' | 'unreadable';
  readonly problem: string;
}

export interface CheckedObject {
  readonly problem: ObjectProblem | undefined;
  /** Uncompressed content that was read, in bytes. */
  readonly bytes: number;
}

/** How often an object is read again whose connection broke. */
const attempts = 3;

/**
 * Reads an object to its end and holds it against its own metadata and, where there is one, against the record. Where the record has no hash
 * (`already-archived`), the object's own metadata serves.
 */
export async function checkObject(reader: ArchiveReader, key: string, outcome?: RunOutcome): Promise<CheckedObject> {
  for (let attempt = 1; ; attempt++) {
    let content: OpenedContent | undefined;
    let bytes = 0;
    try {
      content = await openContent(reader, key);
      if (content === undefined) return { bytes, problem: { kind: 'missing', problem: 'it is not there' } };
      for await (const chunk of content.body as AsyncIterable<Buffer>) bytes += chunk.length;
      return { bytes, problem: outcome && contradictions(content, outcome) };
    } catch (error) {
      const damage = damageOf(error);
      if (damage !== undefined) return { bytes, problem: { kind: 'damaged', problem: damage } };
      const { code, message } = error as NodeJS.ErrnoException;
      // Deleted between opening and reading: the next attempt says that it is missing.
      const isFinal = attempt === attempts || error instanceof UnreadableCompressionError;
      if (isFinal && code !== 'ENOENT') return { bytes, problem: { kind: 'unreadable', problem: message } };
      if (isFinal) return { bytes, problem: { kind: 'missing', problem: 'it is not there' } };
    }
  }
}

/** The names that the record says too, with how to name them to people. */
const compared = {
  'fetched-at': 'time of fetching',
  'media-type': 'media type',
  state: 'state',
  'record-uid': "record's uid",
  'record-last-modified': "record's time of change",
  'log-length': "log's length",
  sha256: 'SHA-256',
  length: 'length',
} as const;

function contradictions(content: OpenedContent, outcome: RunOutcome): ObjectProblem | undefined {
  const { facts, metadata, storedBytes } = content;
  const different: string[] = [];
  if (outcome.storedBytes !== undefined && outcome.storedBytes !== storedBytes) different.push('stored length');
  // Both sides as they are stored: long values are cut there, and whole in the record.
  const recorded = objectMetadata(asFacts(facts, outcome));
  for (const [name, text] of Object.entries(compared)) if (recorded[name] !== metadata[name]) different.push(text);
  // Another attempt may have been another version's; the one that archived it was this.
  if (outcome.outcome === 'archived' && facts.version !== outcome.collectorVersion)
    different.push('version of the collector');
  if (different.length === 0) return undefined;
  const problem = `its run record says another ${different.join(', ')} than the object itself`;
  return { kind: 'contradiction', problem };
}

/**
 * The facts as the record has them. What a record lacks that says only `already-archived` is taken from the object; of
 * one that archived it, what it lacks the service did not say.
 */
function asFacts(facts: ObjectFacts, outcome: Outcome): ObjectFacts {
  const { bytes, sha256, fetchedAt, mediaType, state, recordUid, lastModified, logLength } = outcome;
  const known = { length: bytes ?? facts.length, sha256: sha256 ?? facts.sha256 };
  if (outcome.outcome === 'already-archived')
    return { ...facts, ...known, ...(fetchedAt !== undefined && { fetchedAt: new Date(fetchedAt) }) };
  const said = { state, recordUid, lastModified, logLength };
  return {
    ...facts,
    ...known,
    fetchedAt: fetchedAt === undefined ? facts.fetchedAt : new Date(fetchedAt),
    mediaType,
    ...(said as Pick<ObjectFacts, keyof typeof said>),
  };
}
