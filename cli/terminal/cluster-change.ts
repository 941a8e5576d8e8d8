import type { ClusterList } from '../../archive/format/run-record';
import { atMost } from './format';

/** What a run read of a list of clusters from outside, and how it changed what is collected. */
export interface ClusterChange {
  readonly run: Date;
  /** Of the newest attempt that read one. */
  readonly read: ClusterList;
  readonly joined: readonly string[];
  readonly left: readonly string[];
}

/** A run with this; left out: its clusters were deployed. */
export interface WithClusterChange {
  readonly clusters?: ClusterChange | undefined;
}

/** Most clusters that a line names. */
const mostNamed = 20;

/** `+3 −1 clusters: +a, +b, +c, −d`, and that the list was refused; empty if there is neither. */
export function changeText({ read, joined, left }: ClusterChange): string {
  const names = [...joined.map((uid) => `+${uid}`), ...left.map((uid) => `−${uid}`)];
  const named = atMost(mostNamed, names, (more) => `and ${more} more`).join(', ');
  const counts = `+${joined.length} −${left.length} clusters: ${named}`;
  const refused = read.problem === undefined ? [] : ['list of clusters refused'];
  return [...(names.length > 0 ? [counts] : []), ...refused].join(', ');
}

/** What became of the list, in lines: what changed, why it was refused, and what to do. */
export function changeLines(change: ClusterChange | undefined): string[] {
  if (change === undefined) return [];
  const { from, problem, since } = change.read;
  const why = [
    `The list of clusters ${from} is not in force since ${since}: ${problem}`,
    'Mend it: docs/alarms.md, "When the list of clusters is refused".',
  ];
  return [changeText(change), ...(problem === undefined ? [] : why)].filter((line) => line !== '');
}
