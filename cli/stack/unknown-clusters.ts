import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { firstOf, newestFirst } from '../../lambda/verify/newest-first';
import { readRun } from '../../lambda/verify/read-run';
import { runsBetween } from '../../lambda/verify/run-keys';
import { StoredConfigurations } from '../../lambda/verify/stored-configurations';

/**
 * Which of the uids the configuration of the newest run does not have. The function refuses an event with such a uid, unless
 * another configuration has been deployed since. None if the archive cannot tell.
 * @throws ArchiveReadError
 */
export async function unknownClusters(reader: ArchiveReader, uids: readonly string[], now: Date): Promise<string[]> {
  const newest = await firstOf(newestFirst((period) => runsBetween(reader, period), {}, now));
  let sha256: string | undefined;
  if (newest !== undefined)
    await readRun(reader, newest, ({ configuration }) => {
      sha256 = configuration;
    });
  const configuration = sha256 && (await new StoredConfigurations(reader, () => {}).get(sha256));
  if (!configuration) return [];
  const known = new Set([...configuration.tasks.values()].map(({ cluster }) => cluster));
  return uids.filter((uid) => !known.has(uid));
}
