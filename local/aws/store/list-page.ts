import type { KeyWalk } from './key-walk';
import type { ObjectMetadata } from './object-metadata';

export interface ListOptions {
  /** Only keys behind this one. */
  readonly startAfter?: string | undefined;
  /** Objects and common prefixes in one page; left out: all. */
  readonly maxKeys?: number | undefined;
  readonly delimiter?: string | undefined;
}

export interface ListPage {
  readonly objects: readonly ObjectMetadata[];
  /** In order, each once; only with a delimiter. */
  readonly commonPrefixes: readonly string[];
  /** The `startAfter` of the next page; undefined: this is the last. */
  readonly next?: string | undefined;
}

/** Behind every key that begins with the prefix before it: no text has a greater character. */
const behindAll = '\u{10FFFF}';

/** One page of what a walk finds, in its order. */
export async function listPage(
  walk: KeyWalk,
  head: (key: string) => Promise<ObjectMetadata | undefined>,
  prefix: string,
  { maxKeys, delimiter }: ListOptions,
): Promise<ListPage> {
  const objects: ObjectMetadata[] = [];
  const commonPrefixes: string[] = [];
  const most = maxKeys ?? Number.POSITIVE_INFINITY;
  let next: string | undefined;
  let common: string | undefined;
  if (most <= 0) return { objects, commonPrefixes };
  for (let found = await walk.next(); found !== undefined; found = await walk.next()) {
    const { key } = found;
    if (common !== undefined && key.startsWith(common)) continue;
    const cut = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    const isFull = objects.length + commonPrefixes.length >= most;
    if (delimiter && cut >= 0) {
      if (isFull) return { objects, commonPrefixes, next };
      common = key.slice(0, cut + delimiter.length);
      commonPrefixes.push(common);
      next = common + behindAll;
      walk.leave(common);
      continue;
    }
    const metadata = await head(key);
    // Deleted since the folder was read.
    if (metadata === undefined) continue;
    if (isFull) return { objects, commonPrefixes, next };
    objects.push(metadata);
    next = key;
  }
  return { objects, commonPrefixes };
}
