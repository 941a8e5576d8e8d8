/**
 * What a verification can find, the worst first.
 * - `missing`: recorded, but not there. Also a run record, if later ones of its run are there, and a configuration.
 * - `damaged`: not the content that was archived, or not readable as what it should be.
 * - `contradiction`: whole, but objects, run records and configurations do not say the same.
 * - `unrecorded`: there, but in no run record.
 * - `unreadable`: could not be read, which says nothing about it.
 * - `absent`: the schedule was due, and what it should have left is not there. No damage: runs do get lost.
 * - `pending`: in no run record yet, but so young that one may still come. No damage.
 */
export const findingKinds = [
  'missing',
  'damaged',
  'contradiction',
  'unrecorded',
  'unreadable',
  'absent',
  'pending',
] as const;

export type FindingKind = (typeof findingKinds)[number];

export interface Finding {
  readonly kind: FindingKind;
  /** What it is about: a key, or the beginning of keys with a `*` behind it. */
  readonly key: string;
  readonly problem: string;
}

/** Receives findings. */
export type Find = (kind: FindingKind, key: string, problem: string) => void;
