import { STATUS_CODES } from 'node:http';
import type { Outcome } from '../archive/format/run-record';

/** What was not archived, as run records say it. */
export type Failure = Pick<Outcome, 'cluster' | 'error' | 'httpStatus'>;

/** What failed for the same reason. */
export interface ReasonGroup {
  /** Begins with the HTTP status where there was one; has nothing in it that differs from cluster to cluster. */
  readonly reason: string;
  readonly count: number;
  /** The first clusters that failed so, each once. */
  readonly clusters: string[];
}

/** Most clusters that a group names. */
const mostNamed = 3;

/** Most groups: what a service writes into its answers must not fill the memory. */
const mostReasons = 1000;

const otherReasons = 'other reasons';

/** Groups failures by their reason, the most frequent first. */
export function groupReasons(failures: Iterable<Failure>): ReasonGroup[] {
  const groups = new Map<string, { count: number; clusters: Set<string> }>();
  for (const failure of failures) {
    const own = reasonOf(failure);
    const reason = groups.has(own) || groups.size < mostReasons ? own : otherReasons;
    const group = groups.get(reason) ?? { count: 0, clusters: new Set() };
    groups.set(reason, group);
    group.count += 1;
    if (group.clusters.size < mostNamed) group.clusters.add(failure.cluster);
  }
  return [...groups]
    .map(([reason, { count, clusters }]) => ({ reason, count, clusters: [...clusters] }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/** Longest reason, in characters. */
const mostCharacters = 160;

function reasonOf(failure: Failure): string {
  const { httpStatus, error = '' } = failure;
  if (httpStatus !== undefined && httpStatus !== 200)
    return `${httpStatus} ${STATUS_CODES[httpStatus] ?? 'an unknown status'}`;
  const said = withoutCall(failure, error)
    // What follows is advice, or how many requests were made.
    .replace(/; .*$/s, '')
    .replaceAll(`cluster ${failure.cluster}`, 'the cluster');
  const constant = withoutVariables(said).slice(0, mostCharacters).trim();
  if (constant === '') return httpStatus === 200 ? '200 OK, but no reason is recorded' : 'no reason is recorded';
  return httpStatus === 200 && !constant.startsWith('200 ') ? `200 OK, but ${constant}` : constant;
}

/** Takes out the call, such as `GET assets/manifest of cluster a failed: `. */
function withoutCall({ cluster }: Failure, error: string): string {
  for (const what of ['failed: ', 'answered 200 OK, but ']) {
    const end = ` of cluster ${cluster} ${what}`;
    const at = error.indexOf(end);
    if (error.startsWith('GET ') && at >= 0) return error.slice(at + end.length);
  }
  return error;
}

/** Takes out what differs from one failure to the next: numbers in brackets, quotations, times, identifiers. */
function withoutVariables(text: string): string {
  return text
    .replace(/ ?\([^()]*\d[^()]*\)/g, '')
    .replace(/"[^"]*"/g, '"…"')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*(Z|[+-]\d\d:\d\d)?/g, '…')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '…')
    .replace(/\b(?=[a-f]*\d)[0-9a-f]{12,}\b/gi, '…')
    .replace(/\d{4,}/g, '…');
}

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
  const shown = firstOf(groups);
  const others = groups.slice(shown.length);
  const rest = others.reduce((sum, { count }) => sum + count, 0);
  return [
    `${failures.length} ${what}, ${groups.length} reasons:`,
    ...shown.map(({ reason, count, clusters }) => `- ${count} x ${reason}, such as ${clusters.join(', ')}`),
    ...(rest > 0 ? [`- and ${others.length} more reasons, ${rest} x together`] : []),
  ];
}

/** The reasons in one sentence, the most frequent first: `no answer; 503 Service Unavailable; and 2 more`. */
export function reasonsText(failures: Iterable<Failure>): string {
  const groups = groupReasons(failures);
  const shown = firstOf(groups);
  const more = groups.length - shown.length;
  return [...shown.map(({ reason }) => reason), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** One more than usual, where it would be the only one that is left out. */
function firstOf(groups: readonly ReasonGroup[]): readonly ReasonGroup[] {
  return groups.length === shownReasons + 1 ? groups : groups.slice(0, shownReasons);
}
