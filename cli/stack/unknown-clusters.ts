import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { firstOf } from '../../lambda/verify/newest-first';
import { readRun } from '../../lambda/verify/read-run';
import { NewestConfiguration } from '../archive/newest-configuration';
import { runsNewestFirst } from '../archive/select-runs';

/**
 * Finds the uids that the configuration of the newest run does not have. The function refuses an event with such a uid,
 * unless another configuration has been deployed since. Empty if the archive has no such configuration.
 * @throws ArchiveReadError
 */
export async function unknownClusters(reader: ArchiveReader, uids: readonly string[], now: Date): Promise<string[]> {
  const newest = await firstOf(runsNewestFirst(reader, {}, now));
  const ofNewest = new NewestConfiguration();
  if (newest !== undefined) ofNewest.addRun(await readRun(reader, newest));
  const configuration = await ofNewest.read(reader);
  if (configuration === undefined) return [];
  return uids.filter((uid) => !configuration.clusters.has(uid));
}
