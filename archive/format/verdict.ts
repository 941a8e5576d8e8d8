import type { Finding } from './finding';

/** What was to be looked at and was not, or nobody could tell, and why. */
export interface NotSeen {
  readonly what: string;
  readonly why: string;
}

/**
 * What comes of judging something: three lists, because what was not looked at must never read as "well".
 * @template Seen what was looked at, as its judge counts or names it
 * @template Wrong what is wrong with it
 */
export interface Verdict<Seen, Wrong extends { readonly acknowledged?: string | undefined } = Finding> {
  readonly seen: Seen;
  /** What is wrong. What somebody has acknowledged is among it, and does not count. */
  readonly wrong: readonly Wrong[];
  readonly notSeen: readonly NotSeen[];
}

/** The three values of a verdict, the worst first. */
export type VerdictValue = 'wrong' | 'not seen' | 'right';

/** "Right" is said only where nothing is wrong and nothing was left unseen. */
export function verdictValue({
  wrong,
  notSeen,
}: Omit<Verdict<unknown, { acknowledged?: string | undefined }>, 'seen'>): VerdictValue {
  if (wrong.some(({ acknowledged }) => acknowledged === undefined)) return 'wrong';
  return notSeen.length > 0 ? 'not seen' : 'right';
}
