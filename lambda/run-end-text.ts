/** How much of what a run covers it leaves missing: outcomes, of all outcomes. */
export interface MissingShare {
  readonly missing: number;
  readonly of: number;
}

/**
 * How the error of an incomplete run says it, in the first brackets of its text: by them the state machine takes it out of the
 * error of a shard, and the function that reports failures finds it.
 */
export function missingShareText({ missing, of }: MissingShare): string {
  return `(${missing} of ${of} not archived)`;
}

/** @param text that has it in its first brackets, or is what stands in them. @returns undefined: it says nothing of the kind */
export function parseMissingShare(text: string): MissingShare | undefined {
  const said = /^[^()]*\(([^()]*)\)/.exec(text)?.[1] ?? text;
  const [, missing, of] = /^(\d{1,9}) of (\d{1,9}) not archived$/.exec(said) ?? [];
  return missing === undefined || of === undefined ? undefined : { missing: Number(missing), of: Number(of) };
}

/** How the line of an error begins that says what is wrong with the list of clusters from outside. */
export const refusedListText = 'The list of clusters from outside is not';
