import { type Failure, groupReasons } from './group-reasons';

/** Most reasons that are listed. */
const shownReasons = 5;

/**
 * Says in a few lines why something is not archived, the most frequent reason first.
 * @param what happened, such as `failed`
 * @returns no line without failures
 */
export function reasonLines(what: string, failures: readonly Failure[]): string[] {
  const groups = groupReasons(failures);
  const [first] = groups;
  if (first === undefined) return [];
  if (groups.length === 1) return [`${failures.length} ${what}, one reason: ${first.reason}`];
  const shown = groups.slice(0, shownReasons);
  const rest = groups.slice(shownReasons).reduce((sum, { count }) => sum + count, 0);
  return [
    `${failures.length} ${what}, ${groups.length} reasons:`,
    ...shown.map(({ reason, count, clusters }) => `- ${count} x ${reason}, such as ${clusters.join(', ')}`),
    ...(rest > 0 ? [`- ${rest} x other reasons`] : []),
  ];
}
