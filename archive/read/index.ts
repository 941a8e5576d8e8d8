export { ArchiveReadError, type ArchiveReader, type Body, type ObjectHead } from './archive-reader';
export { type ClusterPlace, clusterPlacesNewestFirst } from './cluster-places';
export { allClusters, clusterNames, clustersBetween, namedClusters } from './clusters';
export { compareKeys, walkKeys, walkNames } from './folder/key-walk';
export {
  descriptionPath,
  irregularMetadata,
  type ObjectHeaders,
  type ObjectMetadata,
  readMetadata,
} from './folder/object-description';
export { openStoredFile, type StoredFile } from './folder/stored-file';
export { FolderArchiveReader } from './folder-archive-reader';
export { LogHistory, type LogLink } from './log/log-history';
export { mostCompared } from './log/log-lines';
export { LogReader, type ReadLog } from './log/log-reader';
export type { Seam } from './log/seam';
export { mapAll, mapConcurrently } from './map-concurrently';
export { firstOf, newestFirst, take } from './newest-first';
export { type ClusterObject, clusterObjects, clusterObjectsNewestFirst } from './objects-between';
export { openBucket } from './open-bucket';
export { damageOf, type OpenedContent, openContent } from './open-content';
export { Presence } from './presence';
export { isLate, type Run, readRun, readRunRecord, readStoredRun, type StoredRun } from './read-run';
export { readWhole } from './read-whole';
export { bytesOfRecords, type ClusterRecord, readClusterRecord, readStarts } from './record-lines';
export { describeUnknownRegion, regionHint } from './region-hint';
export { isWithin, type ListedRun, type Period, runsBetween } from './run-keys';
export { configuredClusters, type RunConfiguration, StoredConfigurations } from './stored-configurations';
