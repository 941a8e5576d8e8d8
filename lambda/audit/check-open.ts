import {
  parseConfigurationKey,
  parseObjectKey,
  parseRunRecordKey,
  parseStamp,
  runPrefix,
} from '../archive/archive-layout';
import { checkObject } from '../verify/check-object';
import { firstOf } from '../verify/newest-first';
import { runsBetween } from '../verify/run-keys';
import type { OpenFinding } from '../verify/seals/seal-state';
import { findUnvouched, type StoredOutcome, storedOutcomes, type VerifiedRun, verifyRun } from '../verify/verify-run';
import { type AuditWalk, findLacking, inTime } from './audit-walk';

/** Open findings that one audit checks. */
const mostChecked = 1000;

/**
 * Looks again at what is open, the one whose last check is oldest first. What is wrong with it is found as if it were new.
 * @returns what was looked at, and whether it would have been found if it were still so: what stands in a run record that
 * cannot be read, or is not what is sealed, nobody can tell
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function checkOpen(context: AuditWalk): Promise<ReadonlyMap<OpenFinding, boolean>> {
  const { chain, stop, configurations } = context;
  const checked = new Map<OpenFinding, boolean>();
  const runs = new Map<number, OpenFinding[]>();
  let left = mostChecked;
  for (const one of chain.state.open) {
    const run = runOf(one.key)?.getTime();
    const configuration = parseConfigurationKey(one.key);
    // Seals are all read, and all keys under runs/ listed, by every audit.
    const isSeen = run === undefined && configuration === undefined;
    if (!isSeen && (left === 0 || stop.aborted)) continue;
    if (!isSeen) left -= 1;
    if (run !== undefined) runs.set(run, [...(runs.get(run) ?? []), one]);
    else checked.set(one, configuration === undefined || (await configurations.get(configuration)) !== undefined);
  }
  await inTime(context, async () => {
    for (const [run, open] of runs)
      for (const [one, isTold] of await checkRun(context, new Date(run), open)) checked.set(one, isTold);
  });
  return checked;
}

/** The run that a finding is of: of its records, all or one, or of an object. */
function runOf(key: string): Date | undefined {
  const all = parseStamp(/\/([^/]+)\.\*$/.exec(key)?.[1] ?? '');
  if (all !== undefined) return `${runPrefix(all)}*` === key ? all : undefined;
  return (parseObjectKey(key) ?? parseRunRecordKey(key))?.run;
}

/** Verifies the records of a run, and those of its objects that something is open of. */
export async function checkRun(
  walk: AuditWalk,
  run: Date,
  open: readonly OpenFinding[],
): Promise<ReadonlyMap<OpenFinding, boolean>> {
  const checked = new Map<OpenFinding, boolean>();
  const listed = await firstOf(runsBetween(walk.reader, { from: run, to: run }));
  const verified = listed && (await verifyRun(walk.reader, listed, walk));
  const { areConfigured, isWhole } = await findIn(walk, verified);
  const wanted = new Set(open.map(({ key }) => key));
  const named = new Map<string, StoredOutcome>();
  for (const outcome of verified === undefined ? [] : storedOutcomes(verified.merged))
    if (wanted.has(outcome.key)) named.set(outcome.key, outcome);
  for (const one of open) {
    const { key } = one;
    const outcome = named.get(key);
    if (parseObjectKey(key) !== undefined) {
      const isTold = await checkNamed(walk, key, run, outcome, isWhole);
      // Only records that are what the seals say tell of an object, or that none names it.
      const isAttested =
        verified === undefined ||
        (outcome === undefined ? verified.unattested.size === 0 : verified.isAttested(outcome));
      checked.set(one, isTold && isAttested);
    } else if (verified === undefined) checked.set(one, await walk.mayHaveRemoved(run));
    else {
      const isRead = verified.merged.read.some((read) => read.key === key && read.record !== undefined);
      checked.set(one, isWhole || (areConfigured && isRead));
    }
  }
  return checked;
}

/**
 * Finds what is wrong with a run. @param verified undefined: it has no records
 * @returns whether the configurations that its records name can be read, and whether all its records can be read too:
 * nothing can be told of a run by some of them
 */
async function findIn(walk: AuditWalk, verified: VerifiedRun | undefined) {
  if (verified === undefined) return { areConfigured: false, isWhole: false };
  const { run, merged, lacking } = verified;
  findUnvouched(walk.find, verified);
  for (const one of lacking) if (one.kind !== 'absent') await findLacking(walk, one);
  let areConfigured = true;
  for (const { configuration } of merged.starts)
    areConfigured &&= (await walk.configurations.get(configuration)) !== undefined;
  const areAllThere = !walk.incomplete.has(run.getTime()) && lacking.every(({ kind }) => kind !== 'missing');
  return { areConfigured, isWhole: areConfigured && areAllThere && merged.badRecords.length === 0 };
}

/**
 * Checks an object.
 * @param outcome what a run record says of it; undefined: none names it
 * @param isWhole whether that is sure
 * @returns whether anybody can tell what is wrong with it
 */
async function checkNamed(
  { reader, find, chain, sealed, mayHaveRemoved }: AuditWalk,
  key: string,
  run: Date,
  outcome: StoredOutcome | undefined,
  isWhole: boolean,
): Promise<boolean> {
  const { problem, sha256 } = await checkObject(reader, key, outcome);
  if (problem?.kind === 'missing') {
    if (await mayHaveRemoved(new Date(outcome?.fetchedAt ?? run), key)) return true;
    if (outcome !== undefined || chain.objects.has(key)) find('missing', key, problem.problem);
    return outcome !== undefined || isWhole;
  }
  sealed.checkObject(key, sha256);
  if (problem !== undefined) find(problem.kind, key, problem.problem);
  if (outcome === undefined && isWhole) find('unrecorded', key, 'no run record says that it was archived');
  return problem?.kind !== 'unreadable' && (outcome !== undefined || isWhole);
}
