import { problems } from './problems';

/** What is to be said of a kind of finding, wherever it is said. */
interface Kind {
  /** Whether somebody has to look into it. */
  readonly isDamage: boolean;
  /** Whether it is worth a word, and nothing is wrong or unseen by it. */
  readonly isRemark?: true;
  /** In a word or two lines, as `verify --help` has it. docs/format.md has the cases. */
  readonly means: string;
  /** When what is open counts as repaired, as docs/proof.md has it; left out: it is told once, and does not stay open. */
  readonly repair?: string;
}

/**
 * The kinds of findings, the worst first; up to `unsealed` it is damage. This table decides the order, the colours, what stays
 * open and what `verify --help` says; tests hold the tables of docs/format.md and docs/proof.md to it.
 */
export const kinds = {
  'seal-broken': {
    isDamage: true,
    means: 'a seal is not right, or the seals are not one whole chain',
    repair:
      'the right seal lies there again, and what should not lie there is gone. With the key `runs/*` (a first seal that came late): when earlier seals are there again. Damage that somebody did with the signing key stays open',
  },
  forged: {
    isDamage: true,
    means: 'it is not what a seal says',
    repair: 'the content with the sealed hash is there again',
  },
  missing: {
    isDamage: true,
    means: 'it is recorded or sealed, and not there',
    repair: 'it is there again, or its retention is over by now',
  },
  damaged: {
    isDamage: true,
    means: 'it is not the content that was archived',
    repair: 'it can be read, and is what was archived',
  },
  contradiction: {
    isDamage: true,
    means: 'records, objects and configurations do not say the same',
    repair: 'objects, run records and configurations say the same again',
  },
  unrecorded: {
    isDamage: true,
    means: 'it is in no run record',
    repair:
      'a run record names it again: complete the run if it is incomplete. A key that this archive does not use is gone',
  },
  unsealed: {
    isDamage: true,
    means: 'the newest seal should have this run record, and no seal has it',
    repair:
      'the earlier seal that had it is there again. Not because it is sealed now: the audit that finds such a record seals it, so that nobody can change it any more. Deleting it would make it `missing`',
  },
  unvouched: { isDamage: false, means: 'its run record is forged, gone, or in no seal' },
  unreadable: {
    isDamage: false,
    means: 'reading it failed, which says nothing about it: it was not seen',
    repair: 'it can be read',
  },
  absent: { isDamage: false, isRemark: true, means: 'a remark: the schedule was due and left no record, or no seal' },
  pending: { isDamage: false, isRemark: true, means: 'a remark: it may still get its record' },
} as const satisfies Record<string, Kind>;

export type FindingKind = keyof typeof kinds;

export const findingKinds = Object.keys(kinds) as FindingKind[];

export const damageKinds: readonly FindingKind[] = findingKinds.filter(isDamage);

/** Whether somebody has to look into it. @param kind of a finding, or of what else a command remarks on */
export function isDamage(kind: string): boolean {
  return kind in kinds && kinds[kind as FindingKind].isDamage;
}

/** Whether it is worth a word, and nothing is wrong or unseen by it. */
export function isRemark(kind: FindingKind): boolean {
  return 'isRemark' in kinds[kind];
}

/** Whether it is told until it is repaired. The others are found once. */
export function staysOpen(kind: FindingKind): boolean {
  return 'repair' in kinds[kind];
}

/** The worst first. */
export function bySeverity(one: Pick<Finding, 'kind'>, other: Pick<Finding, 'kind'>): number {
  return findingKinds.indexOf(one.kind) - findingKinds.indexOf(other.kind);
}

export interface Finding {
  readonly kind: FindingKind;
  /** What it is about: a key, or the beginning of keys with a `*` behind it. */
  readonly key: string;
  readonly problem: string;
  /** Time of the audit that found it first; left out: none did. */
  readonly since?: string | undefined;
  /** Why it is acknowledged; left out: it is not. */
  readonly acknowledged?: string | undefined;
}

/** What makes two findings the same. */
export function nameOf({ kind, key }: { readonly kind: string; readonly key: string }): string {
  return `${kind} ${key}`;
}

/** What is needed to tell whether the lifecycle explains that something is gone. */
export interface Gone {
  readonly key?: string;
  /** When it was written, or should have been; of what is sealed, the earliest time at which it can have been. */
  readonly writtenAt: Date;
  /** True if it may have been gone before the first seal. Left out: no run record names it, or there is no seal. */
  readonly mayPredateSeals?: boolean | undefined;
}

/** A finding that counts only if the lifecycle does not explain it. */
export type Excusable = Finding & Gone;

/** Receives findings. */
export type Find = (kind: FindingKind, key: string, problem: string) => void;

/** What lies under a key that the archive's layout does not have. */
interface Stray {
  readonly key: string;
  readonly damage?: string | undefined;
}

export function strayFinding({ key, damage = problems.stray }: Stray): Finding {
  return { kind: 'unrecorded', key, problem: damage };
}

export function findStray(find: Find, stray: Stray): void {
  const { kind, key, problem } = strayFinding(stray);
  find(kind, key, problem);
}
