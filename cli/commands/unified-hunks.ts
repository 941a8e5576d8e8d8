import { type StructuredPatchHunk, structuredPatch } from 'diff';

export type Hunk = StructuredPatchHunk;

/** Lines around a change, as in diff. */
const context = 3;

/** Most changed lines: the time and memory for the shortest difference grow with the square of their number. */
const mostChanged = 1000;

/** The shortest difference of two texts as hunks of a unified diff; undefined: more than a thousand lines were changed. */
export function unifiedHunks(before: string, after: string): Hunk[] | undefined {
  const options = { context, maxEditLength: mostChanged };
  return structuredPatch('', '', before, after, undefined, undefined, options)?.hunks;
}
