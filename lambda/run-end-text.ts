/** What the error of an incomplete run says of it. */
export interface RunEnd {
  /** Outcomes that are missing, of all that the run covers. */
  readonly missing: number;
  readonly of: number;
  /** Whether the list of clusters from outside was refused. */
  readonly isListRefused: boolean;
}

const refused = ', list refused';

/**
 * How the error says it, in the first brackets of its text: by them the state machine takes it out of the error of a shard,
 * and the function that reports failures finds it.
 */
export function runEndText({ missing, of, isListRefused }: RunEnd): string {
  return `(${missing} of ${of} not archived${isListRefused ? refused : ''})`;
}

/** @param text that has it in its first brackets, or is what stands in them. @returns undefined: it says nothing of the kind */
export function parseRunEnd(text: string): RunEnd | undefined {
  const said = /^[^()]*\(([^()]*)\)/.exec(text)?.[1] ?? text;
  const [, missing, of, more] = /^(\d{1,9}) of (\d{1,9}) not archived(, list refused)?$/.exec(said) ?? [];
  if (missing === undefined || of === undefined) return undefined;
  return { missing: Number(missing), of: Number(of), isListRefused: more === refused };
}
