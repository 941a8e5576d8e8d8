import type { Finding } from '../format/finding';
import { parseRunRecordKey, type RunRecordName, runRecordKey } from '../format/keys';
import { hashOfLeaving, leaversOf, nextList } from '../format/next-list';
import { PastLists, type PastRecords } from '../format/past-lists';
import type { RecordHead, StoredRecord } from '../format/run-record';
import type { ArchiveReader } from '../read/archive-reader';
import { readLines } from '../read/record-lines';
import type { RunRecordObject } from '../read/run-keys';
import { configuredClusters, type RunConfiguration, type StoredConfigurations } from '../read/stored-configurations';
import { removablePercent } from './seals/seal-plans';
import type { SealedArchive } from './seals/sealed-archive';

/** A run record with its configuration. */
export interface ConfiguredRecord extends RunRecordObject {
  readonly record: StoredRecord;
  readonly configuration: RunConfiguration | undefined;
}

export interface ListStepsContext {
  readonly configurations: StoredConfigurations;
  readonly sealed: Pick<SealedArchive, 'listPlans'>;
}

/** How long before an attempt started it may have read which list is in force. */
const readBeforeMs = 5 * 60_000;

/** Clusters that a problem names. */
const mostNamed = 5;

/**
 * What the collector looks for the list in force in. What is wrong with it is found where its run is judged.
 * @param own records that were read already
 */
export function pastRecords(
  reader: ArchiveReader,
  configurations: StoredConfigurations,
  own: readonly ConfiguredRecord[] = [],
): PastRecords {
  const heads = new Map<string, RecordHead | Finding>(own.map(({ key, record }) => [key, record]));
  return {
    names: async (prefix) => {
      const names: RunRecordName[] = [];
      for await (const { key } of reader.list(prefix)) {
        const name = parseRunRecordKey(key);
        if (name !== undefined) names.push(name);
      }
      return names;
    },
    head: async (name) => {
      const key = runRecordKey(name);
      const head = heads.get(key) ?? (await readLines(reader, { ...name, key }));
      heads.set(key, head);
      return 'problem' in head ? undefined : head;
    },
    clusters: async (sha256) => {
      const found = await configurations.get(sha256);
      return found && configuredClusters(found);
    },
  };
}

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
  const problems: { key: string; problem: string }[] = [];
  const records = pastRecords(reader, configurations, own);
  const past = new PastLists(records);
  for (const { key, record, configuration, writtenAt } of own) {
    const began = beganAt(record);
    // What it says of its end may be made up too, to be judged by its own configuration: it was written by then.
    const [ended, written] = [record.finishedAt > began ? record.finishedAt : began, writtenAt.toISOString()];
    const percent =
      removablePercent(sealed.listPlans, ended < written ? ended : written) ?? configuration?.maxRemovedPercent;
    if (configuration === undefined || percent === undefined) continue;
    const candidates = await candidatesOf(past, records, own, began);
    if (candidates === undefined || candidates.length === 0) continue;
    if (candidates.some((other) => other.configuration === record.configuration)) continue;
    const clusters = configuredClusters(configuration);
    const lists = await Promise.all(candidates.map((other) => records.clusters(other.configuration)));
    // Without one of them nobody can tell.
    if (lists.some((inForce) => inForce === undefined || leaversOf(inForce, clusters).length === 0)) continue;
    const largest = await past.largest(new Date(began), (head) => wasThere(head, began));
    const isAllowed = (inForce: (typeof lists)[number]) => {
      const written = { clusters, leaving: record.clusterList?.leaving };
      const step = nextList({ inForce, largest: largest?.clusters }, written, { maxRemovedPercent: percent });
      return step.withheld.length === 0;
    };
    if (lists.some(isAllowed)) continue;
    const left = leaversOf(lists[0] ?? [], clusters);
    const names = `${left.slice(0, mostNamed).join(', ')}${left.length > mostNamed ? ', …' : ''}`;
    const problem = `${left.length} clusters left the list in force without consent: ${names} (consent would be ${hashOfLeaving(left)})`;
    problems.push({ key, problem });
  }
  return problems;
}

/** When an attempt began. What a record says of it may be made up: no attempt begins before the time of its run. */
function beganAt({ startedAt, run }: RecordHead): string {
  return startedAt > run ? startedAt : run;
}

/** Whether an attempt that began then has seen the record for certain. */
function wasThere({ finishedAt }: RecordHead, began: string): boolean {
  return Date.parse(finishedAt) < Date.parse(began) - readBeforeMs;
}

/**
 * The records of which one has the list that was in force for an attempt: the newest that was there for certain, and those of
 * its own run, or newer ones, that may have been there. Undefined: one of them cannot be read, and nobody can tell.
 */
async function candidatesOf(
  past: PastLists,
  records: PastRecords,
  own: readonly ConfiguredRecord[],
  began: string,
): Promise<RecordHead[] | undefined> {
  // Made-up times must not let two records excuse each other: one of them began first, and is judged without the other.
  const isBefore = (head: RecordHead) => beganAt(head) < began;
  const candidates: RecordHead[] = own.map(({ record }) => record).filter(isBefore);
  for await (const name of past.namesBefore(new Date(began))) {
    const head = await records.head(name);
    if (head === undefined) return undefined;
    if (!isBefore(head)) continue;
    candidates.unshift(head);
    if (wasThere(head, began)) break;
  }
  return candidates;
}
