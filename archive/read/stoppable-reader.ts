import { Readable } from 'node:stream';
import { ArchiveReadError, type ArchiveReader, discard, type OpenedObject } from './archive-reader';

/** Longest time for one object, in milliseconds, and how much longer for each byte as stored: 8 s for a MiB. */
const longestMs = 60_000;
const longestMsPerByte = 8_000 / 2 ** 20;

/**
 * Reads and lists until a signal aborts: what is being read then ends with the signal's reason, a listing at whatever key it
 * is, and nothing more is opened. An object that comes too slowly ends by itself: it must not cost the others the time of an audit.
 * @param mostMs longest time for an empty object, in milliseconds
 */
export function stoppableReader(reader: ArchiveReader, signal: AbortSignal, mostMs = longestMs): ArchiveReader {
  return {
    location: reader.location,
    signal,
    list: async function* (prefix, after) {
      for await (const object of reader.list(prefix, after)) {
        signal.throwIfAborted();
        yield object;
      }
    },
    listNames: (prefix) => reader.listNames(prefix),
    time: () => reader.time(),
    head: (key) => untilAborted(signal, () => reader.head(key)),
    open: async (key) => {
      const discardLate = (late?: OpenedObject) => late && discard(late.body);
      const opened = await untilAborted(signal, () => reader.open(key), discardLate);
      if (signal.aborted) discardLate(opened);
      signal.throwIfAborted();
      // What is read already cannot come too late.
      if (!(opened?.body instanceof Readable)) return opened;
      const { body, storedBytes } = opened;
      const limit = mostMs + storedBytes * longestMsPerByte;
      const late = () => body.destroy(new ArchiveReadError(`it did not come within ${Math.ceil(limit / 1000)} s`));
      const timer = setTimeout(late, limit);
      const stop = () => body.destroy(signal.reason);
      signal.addEventListener('abort', stop);
      body.once('close', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      });
      return opened;
    },
  };
}

/** Does not wait for an answer that comes too late. */
async function untilAborted<Answer>(
  signal: AbortSignal,
  ask: () => Promise<Answer>,
  discard?: (late: Answer) => void,
): Promise<Answer> {
  signal.throwIfAborted();
  const answer = ask();
  return new Promise((resolve, reject) => {
    const stop = () => {
      reject(signal.reason);
      answer.then(discard, () => undefined);
    };
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
