import leven from 'leven';
import { RE2JS } from 're2js';
import { clusterPrefix } from '../../archive/format/keys';
import { resourceNames } from '../../archive/format/resources';
import { ArchiveReadError, firstOf, type Run, readRun } from '../../archive/read';
import type { OpenedArchive } from './open-archive';
import type { RunReader } from './run-reader';
import { runsNewestFirst } from './select-runs';

/** Which clusters a command is about. */
export interface ClusterFilter {
  /** As it was given. */
  readonly glob: string;
  /** The only cluster, if the filter names one. */
  readonly uid: string | undefined;
  readonly matches: (uid: string) => boolean;
}

/** A uid, or a pattern in which `*` stands for any characters and `?` for one. No pattern takes long. */
export function clusterFilter(glob: string): ClusterFilter {
  if (!/[*?]/.test(glob)) return { glob, uid: glob, matches: (uid) => uid === glob };
  const parts = glob.split(/([*?])/).map((part) => (part === '*' ? '.*' : part === '?' ? '.' : RE2JS.quote(part)));
  const expression = RE2JS.compile(parts.join(''), RE2JS.DOTALL);
  return { glob, uid: undefined, matches: (uid) => expression.matches(uid) };
}

/** Most names that are offered. */
const mostOffered = 3;

/** The clusters of a run whose uids are most like another one, in words; undefined: it has none that is like it. */
export function nearestNames(uid: string, run: Pick<Run, 'outcomes'> | undefined): string | undefined {
  const names = new Set(run?.outcomes.map(({ cluster }) => cluster));
  if (names.has(uid)) return undefined;
  const most = Math.max(2, Math.ceil(uid.length / 3));
  const nearest = [...names]
    .map((other) => ({ other, distance: leven(uid.trim().toLowerCase(), other.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance || (a.other < b.other ? -1 : 1))
    .slice(0, mostOffered)
    .map(({ other }) => other);
  return nearest.length === 0 ? undefined : `the nearest names: ${nearest.join(', ')}`;
}

/** No run that was read covers a cluster that was asked for: mostly its name is misspelt. */
export async function noSuchCluster(reader: RunReader, filter: ClusterFilter): Promise<ArchiveReadError> {
  const read = `no record of ${reader.span} has it`;
  return new ArchiveReadError(`Finding cluster ${filter.glob} failed: ${read}${await nearestTo(reader, filter.uid)}`);
}

/** For the end of a sentence about clusters that a filter does not find: `; the nearest names: …`, or nothing. */
export async function nearestTo(
  { archive, now }: Pick<OpenedArchive, 'archive' | 'now'>,
  uid: string | undefined,
): Promise<string> {
  if (uid === undefined) return '';
  const listed = await firstOf(runsNewestFirst(archive, {}, now));
  const nearest = nearestNames(uid, listed && (await readRun(archive, listed)));
  return nearest === undefined ? '' : `; ${nearest}`;
}

/** The same for a command that takes one uid, where somebody may have given a pattern. */
export async function nearestToOne(opened: Pick<OpenedArchive, 'archive' | 'now'>, uid: string): Promise<string> {
  return clusterFilter(uid).uid === undefined ? '; --cluster takes one uid here' : nearestTo(opened, uid);
}

/** Whether what looks like a pattern is the uid of a cluster that the archive has, or its newest run covers. */
export async function isUid({ archive, now }: Pick<OpenedArchive, 'archive' | 'now'>, uid: string): Promise<boolean> {
  if (clusterFilter(uid).uid !== undefined) return true;
  for (const resource of resourceNames)
    if ((await firstOf(archive.list(clusterPrefix(resource, uid)))) !== undefined) return true;
  const listed = await firstOf(runsNewestFirst(archive, {}, now));
  const run = listed && (await readRun(archive, listed));
  return run?.outcomes.some(({ cluster }) => cluster === uid) === true;
}
