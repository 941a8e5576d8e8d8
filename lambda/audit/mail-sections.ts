import { dayMs, formerVersionDays } from '../../archive/format/clocks';
import { type Counted, moreOf } from '../../archive/format/counted';
import { type Finding, findingKinds } from '../../archive/format/finding';
import type { Seal } from '../../archive/format/seal';
import type { OpenFinding, SealState } from '../../archive/format/seal-state';
import type { Verdict } from '../../archive/format/verdict';
import { acknowledgedBy, openDamage, type RightSeal } from '../../archive/prove/attest';
import { formatBytes, formatCount, formatTime } from '../plain-text';
import { listingDays } from './agenda';
import { hoursBetween, staleness } from './cluster-outcomes';
import { count, more, plain, wrapped } from './mail-lines';
import type { AskedStamp } from './stamp-seal';

/** A mail is made of the seal and its state alone, so that it can be sent again. */
export type MailedSeal = Omit<Seal, 'open'> & SealState & Pick<RightSeal, 'sha256'>;

const mostReasons = 5;
export const mostFindings = 10;
const mostAcknowledged = 3;

/** Hours since the cluster was archived that was archived longest ago. Without runs no cluster fails, and none is archived. */
export function stalestHours({ failing, summary: { lastRun }, listedFrom }: MailedSeal): number {
  const now = new Date(listedFrom);
  const [stalest] = staleness(failing, now);
  // Since the last run that has a record; 0 if there is none.
  const silent = lastRun === null ? 0 : hoursBetween(Date.parse(lastRun), now);
  return Math.max(silent, stalest?.hours ?? 0);
}

/**
 * What an audit says of its archive: right only if it found nothing, and nothing that was due was left unseen.
 * @returns as what it looked at the objects that it read
 */
export function verdictOf(seal: MailedSeal): Verdict<number, Finding> {
  const { findings, acknowledged, unreadable } = openDamage(seal);
  const { objects, carriedOver, carriedOverRecords } = seal.verified;
  const why = 'there was no time for it';
  const late = [formatCount(carriedOver, 'object'), formatCount(carriedOverRecords, 'run record')];
  const isLeft = (what: 'settled' | 'new') => seal.todo.some((one) => one.what === what);
  return {
    seen: objects,
    wrong: [...findings, ...acknowledged.map((one) => ({ ...one, acknowledged: 'by the plan' }))],
    notSeen: [
      ...unreadable.map(({ key, problem }) => ({ what: key, why: problem })),
      ...late.flatMap((what) => (what.startsWith('0 ') ? [] : { what, why })),
      // Where states were lost, what earlier seals counted is new again.
      ...(isLeft('new') && carriedOver === 0 ? [{ what: 'content that is new again', why }] : []),
      ...(isLeft('settled') ? [{ what: 'what is in no run record', why }] : []),
    ],
  };
}

/** A heading, some of what it counts, and how many more there are; nothing if there is nothing. */
export function some(heading: string, total: number, lines: readonly string[], named = lines.length): string[] {
  return total === 0 ? [] : [heading, ...lines, ...more(total - named)];
}

/** The same with the count behind the heading. */
export function countedLines(heading: string, total: number, lines: readonly string[], named?: number): string[] {
  return some(`${heading}: ${count(total)}`, total, lines, named);
}

export function listed(names: readonly string[]): string[] {
  return names.map((name) => `  ${plain(name)}`);
}

/** The same of names. */
function namesOf<One>(heading: string, { count: all, first }: Counted<One>, name: (one: One) => string): string[] {
  return countedLines(heading, all, wrapped(first.map((one) => name(one))), first.length);
}

/** Who joined and who left the list of clusters from outside, and who was not on it all the time. */
export function memberLines({ summary: { clusters } }: MailedSeal): string[] {
  if (clusters === undefined) return [];
  const { runs, joined, left, away, lessened, anew } = clusters;
  const listedIn = ({ cluster, listed }: (typeof away.first)[number]) =>
    `${plain(cluster)} (on the list in ${count(listed)} of ${count(runs)} runs)`;
  return [
    ...namesOf('Clusters that joined the list', joined, plain),
    ...namesOf('Clusters that left the list for good', left, plain),
    ...namesOf('Clusters that are leaving, or were not on the list in all runs', away, listedIn),
    ...namesOf('Clusters that became optional, or for longer, or lost a resource', lessened, plain),
    ...countedLines(
      'Runs that could not read who was collected before: nobody knows who left',
      anew.count,
      listed(anew.first),
      anew.first.length,
    ),
  ];
}

/** Who was to be collected and is in no record of some runs, whatever the reason. */
export function notCollectedLines({ summary: { notCollected } }: MailedSeal): string[] {
  const name = ({ cluster, runs }: (typeof notCollected.first)[number]) =>
    `${plain(cluster)} (${formatCount(runs, 'run')})`;
  return namesOf('Clusters that runs left out', notCollected, name);
}

/** What is much longer or shorter than usual. Nothing follows from it. */
export function unusualLines({ summary: { unusual } }: MailedSeal): string[] {
  const lines = unusual.first
    .slice(0, mostFindings)
    .flatMap(({ cluster, resource, run, bytes, usual }) => [
      `  ${plain(cluster)}: ${resource} of ${formatTime(run)},`,
      `    ${formatBytes(bytes)}, usually ${formatBytes(usual)}`,
    ]);
  return countedLines(
    'Out of its habit, which is not a failure',
    unusual.count,
    lines,
    Math.min(unusual.first.length, mostFindings),
  );
}

export function openLines(seal: MailedSeal): string[] {
  const { findings, acknowledged, unreadable, since: oldest } = openDamage(seal);
  const whyOf = acknowledgedBy(seal.plan);
  const known = countedLines(
    'Acknowledged',
    acknowledged.length,
    acknowledged
      .slice(0, mostAcknowledged)
      .flatMap((one) => [`  ${one.kind} ${plain(one.key)}`, `    ${plain(whyOf(one) ?? '')}`]),
    Math.min(acknowledged.length, mostAcknowledged),
  );
  const open = [...findings, ...unreadable];
  if (open.length === 0) return known;
  const shown = open.slice(0, mostFindings);
  const lines = shown.flatMap(({ kind, key, problem, since }) => [
    `  ${kind} ${plain(key)}`,
    `    ${since === seal.seal ? 'new' : `since ${since.slice(0, 10)}`}: ${plain(problem)}`,
  ]);
  return [
    ...some(`Open: ${byKind(open)}`, open.length + moreOf(seal.open), lines, shown.length),
    `  All of it: ${command('verify', seal.archive)}`,
    ...(findings.length > 0 ? ['  What to do: docs/alarms.md, "Audit found damage".'] : []),
    ...(oldest === undefined ? [] : versionLines(oldest)),
    ...known,
  ];
}

/** Until when what was overwritten or deleted can be brought back. */
function versionLines(since: string): string[] {
  const until = new Date(Date.parse(since) + formerVersionDays * dayMs).toISOString();
  return [
    `  The good version stays for ${formerVersionDays} days after the damage, and longer if`,
    `  it is locked: of the oldest until ${until.slice(0, 10)} at most.`,
  ];
}

function byKind(findings: readonly OpenFinding[]): string {
  const counts = findingKinds.map((kind) => ({ kind, found: findings.filter((one) => one.kind === kind).length }));
  return counts.flatMap(({ kind, found }) => (found === 0 ? [] : `${count(found)} ${kind}`)).join(', ');
}

export function failingLines({ failing, summary: { reasons }, archive }: MailedSeal): string[] {
  if (failing.length === 0) return [];
  const byName = new Map(failing.map((one) => [one.cluster, one]));
  const last = failing.reduce((newest, one) => (one.last > newest ? one.last : newest), '');
  return [
    'Failing, by reason:',
    ...reasons.slice(0, mostReasons).flatMap(({ reason, count: failed, clusters }) => {
      // Those that fail longest come first.
      const { since = '', runs = 0 } = byName.get(clusters[0] ?? '') ?? {};
      const which = failed === 1 ? 'since' : 'the first since';
      return [
        `  ${count(failed)} x ${plain(reason)}`,
        `    ${which} ${formatTime(since)}, ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`,
        ...wrapped([...clusters.map(plain), ...(failed > clusters.length ? ['...'] : [])], '    '),
      ];
    }),
    ...more(reasons.length - mostReasons, 'reasons'),
    `  All of it: ${command(`runs ${last}`, archive)}`,
  ];
}

export function verifiedLines(seal: MailedSeal): string[] {
  const { objects, carriedOver, carriedOverRecords } = seal.verified;
  const { read: all } = seal.summary;
  const read = `Read and compared: ${formatCount(all.objects, 'object')}, ${formatBytes(all.bytes)}.`;
  if (carriedOver === 0 && carriedOverRecords === 0) return [read, ...oldLines(seal)];
  const share = Math.floor((100 * objects) / (objects + carriedOver));
  return [
    read,
    ...oldLines(seal),
    `No time for ${count(carriedOver)} objects and ${count(carriedOverRecords)} run records (read ${share} %).`,
    'The next audit goes on there. If this stays so, audit more often.',
  ];
}

/** When all of the archive was read last, and what is not read again. */
function oldLines(seal: MailedSeal): string[] {
  const { all, notReadSince } = seal.verified;
  const lines: string[] = [];
  if (all !== null) lines.push(`All of the archive was read ${spanOf(all)}.`);
  if (notReadSince !== null)
    lines.push(
      `Old content was not read since ${formatTime(notReadSince)} (audit.rereadDays is false); each object was read when it was new.`,
    );
  else lines.push(`Old content is read again within ${formatCount(seal.plan.rereadDays ?? 0, 'day')}.`);
  for (const { name, since } of latePasses(seal))
    lines.push(`${name} takes too long: it began ${formatTime(since)}. Audit more often.`);
  return lines;
}

function spanOf({ from, to }: NonNullable<Seal['verified']['all']>): string {
  return from === to ? `at ${formatTime(to)}` : `between ${formatTime(from)} and ${formatTime(to)}`;
}

/** What takes longer than it may, and when it began. */
export function latePasses({ todo, plan, listedFrom }: MailedSeal) {
  const passes = [
    { name: 'Looking for what is in no run record', what: 'settled', days: 1 },
    { name: 'Listing old content', what: 'listing', days: listingDays },
    { name: 'Reading old content', what: 'reading', days: plan.rereadDays ?? Number.POSITIVE_INFINITY },
  ] as const;
  return passes.flatMap(({ name, what, days }) => {
    const since = todo.find((one) => one.what === what && !one.isDone)?.since;
    const isLate = since !== undefined && Date.parse(listedFrom) - Date.parse(since) > days * dayMs;
    return isLate ? { name, since } : [];
  });
}

export function sealLines({ number, seal, archive, sha256 }: MailedSeal): string[] {
  return [
    `Seal ${number} of ${formatTime(seal)}, archive ${archive}`,
    `SHA-256 ${sha256}`,
    'Keep this mail: it is a proof outside the account.',
    `  ${command('verify', archive)} --head ${sha256}`,
  ];
}

export function stampLines(
  { number }: MailedSeal,
  { authority, time, problem = '', since = '' }: AskedStamp,
): string[] {
  if (time !== undefined) return [`Seal ${number} existed before ${time}, says ${authority}.`];
  return [`Seal ${number} is not stamped by ${authority} (none since ${formatTime(since)})`, `  ${plain(problem)}`];
}

/** As a person types it in the folder of the project. */
export function command(text: string, archive: string): string {
  return `npm run collector -- ${text} --archive s3://${archive}`;
}
