import { moreOf } from '../../archive/format/counted';
import type { Find } from '../../archive/format/finding';
import { parseSealStampKey } from '../../archive/format/keys';
import type { Seal } from '../../archive/format/seal';
import {
  acknowledgedBy,
  openDamage,
  readStamps,
  type SealChain,
  type SealStamp,
  type SealWithOpen,
} from '../../archive/prove';
import type { ArchiveReader } from '../../archive/read';
import type { FoundStale } from '../archive/run-reader';
import { atMost, formatCount, formatStale, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { print, type Terminal } from '../terminal/terminal';
import { printFindings } from './print-findings';

/** What the newest seal says is open. */
export type OpenSeal = SealWithOpen & Pick<Seal, 'number' | 'verified'>;

/**
 * How much is damaged, since when, by which seal, and how much of it is acknowledged; then since when old content was not
 * read, where the audit does not read it again. Nothing if all is well.
 */
export async function printOpen({ out, colors }: Terminal, seal: OpenSeal): Promise<void> {
  const { count, since, acknowledged } = openDamage(seal);
  const { notReadSince } = seal.verified;
  const damage = since && `${colors.red(colors.bold('DAMAGE'))} open since ${formatTime(since)}: ${count}`;
  const known = acknowledged.length === 0 ? undefined : `${formatCount(acknowledged.length, 'acknowledged finding')}`;
  const all = [damage, known].filter((part) => part !== undefined).join(', and ');
  if (all !== '') await print(out, `${all}, says seal ${seal.number} of ${formatTime(seal.seal)}.\n`);
  if (notReadSince === null) return;
  const notRead = `Old content was not read since ${formatTime(notReadSince)} (audit.rereadDays is false)`;
  await print(out, `${notRead}, says seal ${seal.number}.\n`);
}

/** Lists what is open, the newest first, and then what is acknowledged, before what {@link printOpen} says. */
export async function printOpenFindings(terminal: Terminal, seal: OpenSeal): Promise<void> {
  const { findings, unreadable, acknowledged } = openDamage(seal);
  const reasonOf = acknowledgedBy(seal.plan);
  const all = [...findings, ...unreadable, ...acknowledged].map((one) => ({ ...one, acknowledged: reasonOf(one) }));
  await printFindings(terminal, all);
  const more = moreOf(seal.open);
  if (more > 0) await print(terminal.out, `… and ${more} more, for which the seal has no room\n`);
  await printOpen(terminal, seal);
}

/** One line: what a stamp shows. */
export function describeStamp({ number, time, authority, root }: SealStamp): string {
  return `Seal ${number} and all before it existed before ${time}, says ${authority} (root ${printable(root)}).`;
}

/** Of each authority its newest stamp, if that counts: only this one is read. */
export async function newestStamps(reader: ArchiveReader, chain: SealChain, find: Find): Promise<SealStamp[]> {
  const newest = new Map([...chain.stamps.keys()].map((key) => [parseSealStampKey(key)?.authority, key]));
  const { counting, findings } = await readStamps(reader, chain, undefined, newest.values());
  for (const { kind, key, problem } of findings) find(kind, key, problem);
  return counting;
}

/** Most clusters that each list names. */
const shownStale = 5;

/**
 * Says which clusters have not been archived for longest, and which fail again and again, if any.
 * @param at when it was so; left out: now
 */
export async function printStale(
  { out }: Pick<Terminal, 'out'>,
  { stale, notCovered, flapping }: FoundStale,
  at: Date | undefined,
): Promise<void> {
  const since = (lastArchived: string | null) =>
    lastArchived === null ? '' : `; last archived by the run ${formatTime(lastArchived)}`;
  const lists = {
    [`Not archived for longest${at === undefined ? '' : `, at ${formatTime(at)}`}`]: stale.map(
      ({ cluster, runs, hours, lastArchived }) =>
        `${cluster}: ${formatStale(runs, hours, lastArchived === null)}${since(lastArchived)}`,
    ),
    'Failing now and then': flapping.map(
      ({ cluster, failed, runs }) => `${cluster}: in ${failed} of ${formatCount(runs, 'run')}`,
    ),
  };
  for (const [heading, all] of Object.entries(lists)) {
    if (all.length === 0) continue;
    const lines = atMost(shownStale, all, (more) => `and ${more} more; --json has all`);
    await print(out, `${[`${heading}:`, ...lines].map(printable).join('\n  ')}\n`);
  }
  if (notCovered.length > 0)
    await print(out, `None of these runs covers ${formatCount(notCovered.length, 'configured cluster')}.\n`);
}
