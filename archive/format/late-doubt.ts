/**
 * The doubt of what does not name its cluster, such as a manifest, if another answer of its attempt was another cluster's. It
 * comes last, and may come when the object is stored already: then the run record has it, and the object's metadata do not.
 */
const lateDoubt = 'another answer of the same attempt belongs to another cluster';

export function withLateDoubt(doubt: string | undefined): string {
  const other = withoutLateDoubt(doubt);
  return other === undefined ? lateDoubt : `${other}; ${lateDoubt}`;
}

export function withoutLateDoubt(doubt: string | undefined): string | undefined {
  if (doubt === lateDoubt) return undefined;
  return doubt?.endsWith(`; ${lateDoubt}`) ? doubt.slice(0, -`; ${lateDoubt}`.length) : doubt;
}
