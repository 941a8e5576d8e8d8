/**
 * What a verification can find, the worst first; up to `unsealed` it is damage.
 * - `seal-broken`: a seal is not right or not in the chain, a link of the chain is not there, or a seal was deleted or overwritten.
 * - `forged`: not what a seal says that it was.
 * - `missing`: recorded or sealed, but not there. Also a run record, if later ones of its run are there, and a configuration.
 * - `damaged`: not the content that was archived, or not readable as what it should be.
 * - `contradiction`: whole, but objects, run records and configurations do not say the same.
 * - `unrecorded`: there, but in no run record.
 * - `unsealed`: a run record that was there when the newest seal was made, and no seal has it. In a part: any that no seal has.
 * - `unvouched`: there, but the run record that says what it is was replaced, or is gone or in no seal. That record is the damage.
 * - `unreadable`: could not be read, which says nothing about it.
 * - `absent`: the schedule was due, and what it should have left is not there. Not damage: runs do get lost.
 * - `pending`: in no run record yet, but so young that one may still come, or left by an attempt that was killed. Not damage.
 */
export const findingKinds = [
  'seal-broken',
  'forged',
  'missing',
  'damaged',
  'contradiction',
  'unrecorded',
  'unsealed',
  'unvouched',
  'unreadable',
  'absent',
  'pending',
] as const;

export type FindingKind = (typeof findingKinds)[number];

/** What somebody has to look into. The other kinds are not damage, or say nothing about it. */
export const damageKinds: readonly FindingKind[] = findingKinds.slice(0, findingKinds.indexOf('unvouched'));

/** @param found counts by kind */
export function countDamage(found: Readonly<Partial<Record<string, number>>>): number {
  return damageKinds.reduce((sum, kind) => sum + (found[kind] ?? 0), 0);
}

export interface Finding {
  readonly kind: FindingKind;
  /** What it is about: a key, or the beginning of keys with a `*` behind it. */
  readonly key: string;
  readonly problem: string;
}

/** A finding that counts only if the lifecycle does not explain it. */
export interface Excusable extends Finding {
  /** When its object was written, or should have been; of what is sealed, the earliest time at which it can have been. */
  readonly writtenAt: Date;
  /**
   * Of an object that a run record names: whether it may have been gone before the first seal. Left out: no record names it, or
   * there is no seal.
   */
  readonly isInitial?: boolean | undefined;
}

/** What is gone, as far as anybody can tell. */
export type Gone = Pick<Excusable, 'writtenAt' | 'isInitial'> & Partial<Pick<Excusable, 'key'>>;

/** Receives findings. */
export type Find = (kind: FindingKind, key: string, problem: string) => void;

/** Finds what lies under a key that the archive's layout does not have. */
export function findStray(
  find: Find,
  { key, damage }: { readonly key: string; readonly damage?: string | undefined },
): void {
  find('unrecorded', key, damage ?? 'not a key that this archive uses');
}
