import { parseClusters } from '../../../archive/format/cluster-schema';
import type { ConfiguredCluster } from '../../../archive/format/configuration';
import { mostProblems, problemLines } from '../../../archive/format/schema-problems';

/** Largest list that is read, in bytes. */
export const largestListBytes = 64 * 1024 * 1024;

/** Entries that are read at most, however many a fleet in shards could finish: 20 million empty ones took two gigabytes. */
const mostEntries = 1_000_000;

/** The list, an entry, and a list or an object in it. */
const deepest = 3;

/** Commas of an entry with all its members, and of a list that is short enough to be judged whole. */
const [mostCommas, fewCommas] = [6, 10_000];

/**
 * A list of clusters from outside, or what is wrong with it, by path. Whoever writes it may write anything: nothing is made of
 * it before its entries are counted, because empty ones take ten times their length in memory.
 * @param most clusters above which no run would finish
 */
export function readList(
  bytes: Buffer,
  most: number,
): { readonly clusters: readonly ConfiguredCluster[] } | { readonly problem: string } {
  const { isList, entries, depth, commas } = shapeOf(bytes);
  const mostRead = Math.min(most, mostEntries);
  if (isList && entries > mostRead)
    return { problem: `no run can finish its ${entries} clusters: at most ${mostRead}, docs/large-fleets.md` };
  if (depth > deepest || commas > Math.max(fewCommas, mostCommas * entries))
    return { problem: 'it is not valid: its entries are not those of a list of clusters' };
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return { problem: `it is not JSON in UTF-8: ${(error as Error).message}` };
  }
  if (!Array.isArray(json)) return { problem: 'it is not valid: it is not a list of clusters' };
  const read = parseClusters(json);
  if ('clusters' in read) return read;
  const more = read.problems.length > mostProblems ? ['… and what stands behind them, which was not looked at'] : [];
  return { problem: ['it is not valid:', ...problemLines(read.problems.slice(0, mostProblems)), ...more].join('\n  ') };
}

/** What a JSON text would become: it need not be valid. */
function shapeOf(bytes: Buffer): { isList: boolean; entries: number; depth: number; commas: number } {
  let [level, depth, commas, entries] = [0, 0, 0, 1];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at);
    else if (byte === comma) {
      commas += 1;
      if (level === 1) entries += 1;
    } else if (byte === openList || byte === openObject) {
      level += 1;
      if (level > depth) depth = level;
    } else if (byte === closeList || byte === closeObject) level -= 1;
  }
  return { isList: /^\s*\[/.test(bytes.toString('latin1', 0, 100)), entries, depth, commas };
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where a text ends that begins with a quote. */
function endOfText(bytes: Buffer, begin: number): number {
  for (let at = begin + 1; at < bytes.length; at += 1) {
    if (bytes[at] === backslash) at += 1;
    else if (bytes[at] === quote) return at;
  }
  return bytes.length;
}

/** Bucket and key of `s3://bucket/key`. */
export function parseListAddress(from: string): { readonly bucket: string; readonly key: string } {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(from) ?? [];
  return { bucket, key };
}

/** Why a list may not lie in the archive's bucket, and what to do. */
export const inArchive =
  "it lies in the archive's bucket, where nothing is ever overwritten; put it into another bucket, and name that in clusters.from";
