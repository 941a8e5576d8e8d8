/** What became of one cluster x resource in a run; `none`: the run did not cover it. */
const cellOutcomes = ['none', 'archived', 'already-archived', 'failed', 'not-attempted'] as const;

export interface Cell {
  readonly outcome: (typeof cellOutcomes)[number];
  /** Fetched more than an hour after the run's time. */
  readonly isLate: boolean;
  /** Another content than the one before. */
  readonly isChanged: boolean;
  /** Archived, but it is not certain that it is right. */
  readonly hasDoubt: boolean;
}

const first = 'A'.charCodeAt(0);
const count = cellOutcomes.length;

/** A cell as one letter. */
export function encodeCell({ outcome, isLate, isChanged, hasDoubt }: Cell): string {
  const flags = (isLate ? 1 : 0) + (isChanged ? 2 : 0) + (hasDoubt ? 4 : 0);
  return String.fromCharCode(first + cellOutcomes.indexOf(outcome) + count * flags);
}

/** The cell behind a letter; an unknown character reads as `none`. */
export function decodeCell(letter: string | undefined): Cell {
  const code = letter === undefined ? 0 : letter.charCodeAt(0) - first;
  const flags = Math.floor(code / count);
  return {
    outcome: cellOutcomes[code % count] ?? 'none',
    isLate: (flags & 1) !== 0,
    isChanged: (flags & 2) !== 0,
    hasDoubt: (flags & 4) !== 0,
  };
}

export const noCell = encodeCell({ outcome: 'none', isLate: false, isChanged: false, hasDoubt: false });
