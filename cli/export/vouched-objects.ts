import type { KeyObject } from 'node:crypto';
import { parseObjectKey } from '../../lambda/archive/archive-layout';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type Vouched, Vouching } from '../../lambda/verify/vouching';
import { factsOf } from '../archive/content-hashes';

/** The seals that vouch for objects, and what no seal vouches for. */
export interface VouchedObjects {
  /** How many of the objects. */
  readonly count: number;
  /** In the order of their numbers. */
  readonly seals: readonly NonNullable<Vouched['seal']>[];
  /** The keys of the others, by the reason. */
  readonly others: ReadonlyMap<string, readonly string[]>;
}

/**
 * @param publicKeys that may have signed; left out: the archive's own key is believed
 * @param damaged keys of objects that no seal can vouch for, whatever their metadata says
 * @throws ArchiveReadError
 */
export async function vouchFor(
  reader: ArchiveReader,
  keys: readonly string[],
  publicKeys: readonly KeyObject[] | undefined,
  damaged: ReadonlySet<string>,
): Promise<VouchedObjects> {
  const vouching = new Vouching(reader, publicKeys);
  const seals = new Map<number, NonNullable<Vouched['seal']>>();
  const others = new Map<string, string[]>();
  let count = 0;
  for (const key of keys) {
    const name = parseObjectKey(key);
    const facts = damaged.has(key) ? undefined : await factsOf(reader, { key });
    if (name === undefined || facts === undefined) continue;
    const vouched = await vouching.ofObject({ ...name, key }, facts.sha256);
    if (vouched.seal === undefined) others.set(vouched.problem, [...(others.get(vouched.problem) ?? []), key]);
    else {
      count += 1;
      seals.set(vouched.seal.number, vouched.seal);
    }
  }
  return { count, seals: [...seals.values()].sort((a, b) => a.number - b.number), others };
}
