import { ArchiveReadError, type ArchiveReader, openBucket } from '../../archive/read';

/**
 * A bucket, read with the credentials of whoever asks. Readers take what is refused for lasting damage, because nobody with their
 * rights can read it; somebody else may, and so here it ends the reading: nothing was seen.
 */
export async function openAsMyself(bucket: string, region: string): Promise<ArchiveReader> {
  return asMyself(await openBucket(bucket, region));
}

/** Every method throws ArchiveReadError for a refusal, and none that is lasting. */
export function asMyself(reader: ArchiveReader): ArchiveReader {
  const unseen = (error: unknown): never => {
    if (!(error instanceof ArchiveReadError) || !error.isLasting) throw error;
    throw new ArchiveReadError(error.message, { cause: error });
  };
  return {
    location: reader.location,
    list: (prefix, after) => reader.list(prefix, after),
    listNames: (prefix) => reader.listNames(prefix),
    time: () => reader.time(),
    head: (key) => reader.head(key).catch(unseen),
    open: (key) => reader.open(key).catch(unseen),
    replaced: async (prefix) => (await reader.replaced?.(prefix).catch(unseen)) ?? [],
  };
}
