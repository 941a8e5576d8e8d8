import type { ListChange } from '../../archive/format/list-in-force';
import type { ClusterList } from '../../archive/format/run-record';
import { atMost } from './format';

/** What a run read of a list of clusters from outside, and how it changed what is collected. */
export interface ClusterChange extends ListChange {
  readonly run: Date;
  /** Of the newest attempt that read one. */
  readonly read: ClusterList;
}

/** A run with this; left out: its clusters were deployed. */
export interface WithClusterChange {
  readonly clusters?: ClusterChange | undefined;
}

/** Most clusters that a line names. */
const mostNamed = 20;

/**
 * `+3 −1 clusters: +a, +b, +c, −d; 1 leaving: e`, who is optional now or lost a resource, and that the list was refused;
 * empty if there is nothing of it.
 */
export function changeText({ read, joined, left, lessened, leaving, returned }: ClusterChange): string {
  const names = [...joined.map((uid) => `+${uid}`), ...left.map((uid) => `−${uid}`)];
  const said = [
    names.length > 0 && `+${joined.length} −${left.length} clusters: ${named(names)}`,
    returned.length > 0 && `${returned.length} back: ${named(returned)}`,
    leaving.length > 0 && `${leaving.length} leaving: ${named(leaving)}`,
    lessened.length > 0 && `less of ${lessened.length}: ${named(lessened)}`,
    read.waiting !== undefined && `${read.waiting.count} wait to join`,
    read.problem !== undefined && read.waiting === undefined && 'list of clusters refused',
  ];
  return said.filter((text) => text !== false).join('; ');
}

/** Whether anything became another than it was before. */
export function isChange({ read, joined, left, lessened, began, returned }: ClusterChange): boolean {
  return read.problem !== undefined || [joined, left, lessened, began, returned].some(({ length }) => length > 0);
}

function named(uids: readonly string[]): string {
  return atMost(mostNamed, uids, (more) => `and ${more} more`).join(', ');
}

/** What became of the list, in lines: what changed, why not all of it counts, and what to do. */
export function changeLines(change: ClusterChange | undefined): string[] {
  if (change === undefined) return [];
  const { from, problem, since } = change.read;
  // Of a stored problem no line may look like one of this output.
  const [first, ...others] = (problem ?? '').split('\n');
  const why = [
    `The list of clusters ${from} is not wholly in force since ${since}: ${first}`,
    ...others.map((line) => `  ${line.trimStart()}`),
    'Mend it: docs/alarms.md, "List refused".',
  ];
  return [changeText(change), ...(problem === undefined ? [] : why)].filter((line) => line !== '');
}
