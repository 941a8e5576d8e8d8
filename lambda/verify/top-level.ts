import type { ArchiveReader } from './archive-reader';

/**
 * What lies at the root of an archive, each once: keys, and prefixes up to their first slash. It is found by starting the
 * listing anew behind each prefix.
 */
export async function* topLevel(reader: ArchiveReader): AsyncGenerator<string> {
  let prefix: string | undefined;
  for (let after: string | undefined, isDone = false; !isDone; ) {
    isDone = true;
    for await (const { key } of reader.list('', after)) {
      // Names of the archive itself are plain; keys behind the tilde are passed by one by one.
      if (prefix !== undefined && key.startsWith(prefix)) continue;
      const slash = key.indexOf('/');
      if (slash < 0) {
        yield key;
        continue;
      }
      prefix = key.slice(0, slash + 1);
      yield prefix;
      after = `${prefix}~`;
      isDone = false;
      break;
    }
  }
}
