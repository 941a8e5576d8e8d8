import {
  parseConfigurationKey,
  parseObjectKey,
  parseRunRecordKey,
  parseStamp,
  runPrefix,
  runsPrefix,
  sealsPrefix,
} from '../../archive/format/keys';
import type { OpenFinding } from '../../archive/format/seal-state';
import { firstOf, namedClusters } from '../../archive/read';
import type { AuditJudge } from './audit-judge';

/** Open findings that one audit checks. */
const mostChecked = 1000;

/**
 * What is said of an open finding that is not found again: it was repaired; nothing that is right says any more what should
 * be there, which is the damage then; or it could not be read.
 */
export type Rechecked = 'repaired' | 'unvouched' | 'unread';

/**
 * Judges the run of each open finding again, the one whose last judgement is oldest first. What is still wrong is found as if
 * it were new.
 * @returns what was judged
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function checkOpen(judge: AuditJudge): Promise<ReadonlyMap<OpenFinding, Rechecked>> {
  const { chain, configurations } = judge;
  const checked = new Map<OpenFinding, Rechecked>();
  const runs = new Map<number, OpenFinding[]>();
  const strays: OpenFinding[] = [];
  let left = mostChecked;
  for (const one of chain.state.open) {
    const { key } = one;
    const run = runOf(key)?.getTime();
    const configuration = parseConfigurationKey(key);
    // Every audit reads all seals, and lists all keys under runs/.
    const isListed = run === undefined && [runsPrefix, sealsPrefix].some((prefix) => key.startsWith(prefix));
    if (isListed) checked.set(one, 'repaired');
    if (isListed || left === 0 || judge.isOver()) continue;
    left -= 1;
    if (run !== undefined) runs.set(run, [...(runs.get(run) ?? []), one]);
    else if (configuration !== undefined) {
      const found = await configurations.get(configuration);
      const isRead = !configurations.unread.has(configuration) && found?.scheduleProblem === undefined;
      checked.set(one, isRead ? 'repaired' : 'unread');
    } else strays.push(one);
  }
  await judge.inTime(async () => {
    for (const one of strays) {
      await findStray(judge, one);
      checked.set(one, 'repaired');
    }
    for (const [run, open] of runs)
      for (const [one, rechecked] of await judgeAgain(judge, new Date(run), open)) checked.set(one, rechecked);
  });
  return checked;
}

/** The run that a finding is of: of its records, all or one, or of an object. */
function runOf(key: string): Date | undefined {
  const all = parseStamp(/\/([^/]+)\.\*$/.exec(key)?.[1] ?? '');
  if (all !== undefined) return `${runPrefix(all)}*` === key ? all : undefined;
  return (parseObjectKey(key) ?? parseRunRecordKey(key))?.run;
}

/** Finds again what lies under a key that an archive does not use. */
async function findStray({ reader, find }: AuditJudge, { key, problem }: OpenFinding): Promise<void> {
  const prefix = key.replace(/\*$/, '');
  const found = await firstOf(reader.list(prefix));
  if (found !== undefined && (found.key === key || prefix !== key)) find('unrecorded', key, found.damage ?? problem);
}

/** Judges a run, of it the objects that something is open of. */
async function judgeAgain(
  judge: AuditJudge,
  run: Date,
  open: readonly OpenFinding[],
): Promise<Map<OpenFinding, Rechecked>> {
  const clusters = namedClusters(open.flatMap(({ key }) => parseObjectKey(key)?.cluster ?? []));
  // What was found once does not become younger.
  const last = await judge.judgeSlice({ from: run, to: run, clusters, depth: 'content', isSettled: true });
  const checked = new Map<OpenFinding, Rechecked>();
  for (const one of open) {
    // What does not lie there any more is not unrecorded, whatever the records say.
    const gone = { key: one.key, writtenAt: run };
    const isGone = one.kind === 'unrecorded' || (last === undefined && (await judge.expiry.mayHaveRemoved(gone)));
    const rechecked = last?.isUnread ? 'unread' : last?.isWhole ? 'repaired' : 'unvouched';
    checked.set(one, isGone ? 'repaired' : rechecked);
  }
  return checked;
}
