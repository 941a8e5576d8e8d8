import type { ConfiguredCluster } from '../format/configuration';
import { parseRunRecordKey, runRecordKey } from '../format/keys';
import { newestRecords } from '../format/newest-records';
import type { ArchiveReader } from '../read/archive-reader';
import { readLines } from '../read/record-lines';
import type { RunRecordObject } from '../read/run-keys';
import { configuredClusters, type StoredConfigurations } from '../read/stored-configurations';

/** A configuration that was in force, and the hash that names it. */
export interface ListInForce {
  readonly sha256: string;
  readonly clusters: readonly ConfiguredCluster[];
}

/** What the next run follows, as the collector looks for it; undefined: no run record can be read with its configuration. */
export async function newestList(
  reader: ArchiveReader,
  configurations: StoredConfigurations,
  at: Date,
): Promise<ListInForce | undefined> {
  for await (const name of newestRecords((prefix) => recordNames(reader, prefix), at)) {
    const head = await readLines(reader, { ...name, key: runRecordKey(name) });
    const configuration = 'problem' in head ? undefined : await configurations.get(head.configuration);
    if ('configuration' in head && configuration !== undefined)
      return { sha256: head.configuration, clusters: configuredClusters(configuration) };
  }
  return undefined;
}

/** The run records whose keys begin so. @throws ArchiveReadError */
export async function recordNames(reader: ArchiveReader, prefix: string): Promise<RunRecordObject[]> {
  const names: RunRecordObject[] = [];
  for await (const object of reader.list(prefix)) {
    const name = parseRunRecordKey(object.key);
    if (name !== undefined) names.push({ ...name, ...object });
  }
  return names;
}
