import { gzipSync } from 'node:zlib';
import { configurationKey } from '../archive/archive-layout';
import type { S3Archive } from '../archive/s3-archive';

/**
 * Stores the function's configuration in the archive, so that the archive itself says what was due, unless it is there
 * already; asks the archive once per execution environment.
 * @param sha256 of what `read` gives, lower-case hex: run records name the configuration by it
 * @param read reads the collection file
 * @returns throws ArchiveError; the signal's reason when it aborts
 */
export function configurationStore(
  archive: Pick<S3Archive, 'put'>,
  sha256: string,
  read: () => Promise<Uint8Array>,
): (signal: AbortSignal) => Promise<void> {
  let isStored = false;
  return async (signal) => {
    if (isStored) return;
    const content = gzipSync(await read());
    const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
    await archive.put({ key: configurationKey(sha256), content, ...headers }, signal);
    isStored = true;
  };
}
