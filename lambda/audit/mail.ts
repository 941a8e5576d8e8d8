import type { AuditPlan } from '../stack-contract';
import { dayMs, formerVersionDays } from '../time-limits';
import { describeNotJudged } from '../verify/due-runs';
import { findingKinds } from '../verify/finding';
import { openDamage } from '../verify/seals/open-damage';
import type { Seal } from '../verify/seals/seal';
import type { RightSeal } from '../verify/seals/seal-chain';
import type { OpenFinding, Pass, SealState } from '../verify/seals/seal-state';
import { shorterRetention } from '../verify/seals/shorter-retention';
import { hoursBetween, staleness } from './cluster-outcomes';
import { listingDays } from './judge-old';
import { count, formatBytes, formatCount, minute, more, plain, shellQuoted, subjectOf, wrapped } from './mail-text';
import { seamLines } from './seam-summary';
import type { AskedStamp } from './stamp-seal';

export interface Mail {
  /** ASCII, fewer than 100 characters: what SNS takes. */
  readonly subject: string;
  readonly text: string;
  /** Whether it also goes to those who are woken up. */
  readonly pages?: boolean;
}

/** A mail is made of the seal and its state alone, so that it can be sent again. */
export type MailedSeal = Omit<Seal, 'open'> & SealState & Pick<RightSeal, 'sha256'>;

const mostReasons = 5;
const mostFindings = 10;
const mostStale = 10;

/**
 * What happened since the seal before, the verdict first.
 * @param plan as the audit is deployed now
 * @param stamps what the authorities answered
 */
export function auditMail(
  seal: MailedSeal,
  plan: Pick<AuditPlan, 'staleAfterHours' | 'frozenAfterHours'>,
  stamps: readonly AskedStamp[] = [],
): Mail {
  const { archive, summary, previous, found, findings } = seal;
  const { repaired, doubts, changed, flapping } = summary;
  const isFirst = previous === null;
  const logs = seamLines(seal.logs, archive, plan.frozenAfterHours);
  const { subject, verdict } = verdictOf(seal, logs.subjects);
  // What a slip deletes can be brought back for some days only.
  const shorter = openDamage(seal).findings.flatMap(({ problem }) =>
    problem.startsWith(shorterRetention) ? `RETENTION: ${problem}` : [],
  );
  const unvouched = findings.flatMap(({ kind, key }) => (kind === 'unvouched' ? key : []));
  const absent = findings.filter(({ kind }) => kind === 'absent');
  const absentLines = absent.map(({ key, problem }) => `  ${key}\n    ${plain(problem)}`);
  const flappingHeading = `Failing now and then, in so many of the runs since the\naudit before: ${formatCount(flapping.count, 'cluster')}`;
  const flappingNames = flapping.first
    .slice(0, mostStale)
    .map(({ cluster, failed, runs }) => `${plain(cluster)} (${count(failed)} of ${count(runs)})`);
  const changedNames = changed.clusters.map(({ cluster }) => plain(cluster));
  const sections = [
    [
      ...shorter.map((text) => wrapped(text.split(' '), '', ' ').join('\n')),
      ...(isFirst ? firstLines(seal) : []),
      verdict,
    ],
    counted('Repaired', repaired.count, listed(repaired.first.slice(0, mostFindings))),
    openLines(seal),
    // The run records that should vouch for it are damage of their own.
    counted('Unvouched, because their run records were replaced or are gone', found.unvouched ?? 0, listed(unvouched)),
    some('Absent (no damage):', absent.length, absentLines.slice(0, mostFindings)),
    memberLines(seal),
    failingLines(seal),
    staleLines(seal, plan),
    some(flappingHeading, flapping.count, wrapped(flappingNames), flappingNames.length),
    logs.lines,
    [
      ...counted('Changed manifests', changed.count, wrapped(changedNames), changedNames.length),
      ...changed.clusters.slice(0, 1).map(({ cluster, from, to }) => {
        const period = `--from ${from} --to ${to}`;
        return `  Show one: ${command(`history ${shellQuoted(plain(cluster))} ${period}`, archive)}`;
      }),
    ],
    counted('Archived with a doubt', doubts.count, listed(doubts.first)),
    [
      `Archived: ${count(summary.objects)} objects, ${formatBytes(summary.bytes)} (${formatBytes(summary.storedBytes)} stored).`,
      ...verifiedLines(seal),
    ],
    [...sealLines(seal), ...stamps.flatMap((stamp) => stampLines(seal, stamp))],
  ];
  const text = sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
  const pages = openDamage(seal).count > 0;
  const first = shorter.length > 0 ? 'RETENTION SHORTENED, ' : isFirst ? 'First seal: ' : '';
  return { subject: subjectOf(`${first}${subject}`, archive), text: `${text}\n`, pages };
}

/** A seal is mailed once a day, whatever the audit's schedule is, and while damage is open, and when some was repaired. */
export function isMailDue(
  seal: Pick<MailedSeal, 'seal' | 'plan' | 'open' | 'openMore' | 'summary'>,
  before: Pick<Seal, 'seal'> | undefined,
): boolean {
  const isFirstOfDay = before?.seal.slice(0, 10) !== seal.seal.slice(0, 10);
  return isFirstOfDay || openDamage(seal).count > 0 || seal.summary.repaired.count > 0;
}

/** What was gone before anything was attested, stored configurations alone excuse. */
function firstLines({ verified: { expired } }: MailedSeal): string[] {
  const gone = `Gone already, and excused as expired by stored configurations: ${count(expired)}.`;
  return ['FIRST SEAL: nothing earlier is attested.', ...(expired === 0 ? [] : [gone])];
}

/** Hours since the cluster was archived that was archived longest ago. Without runs no cluster fails, and none is archived. */
export function stalestHours(seal: MailedSeal): number {
  const [stalest] = staleness(seal.failing, new Date(seal.listedFrom));
  return Math.max(hoursSinceRun(seal), stalest?.hours ?? 0);
}

/** Since the last run that has a record; 0 if there is none. */
function hoursSinceRun({ summary: { lastRun }, listedFrom }: MailedSeal): number {
  return lastRun === null ? 0 : hoursBetween(Date.parse(lastRun), new Date(listedFrom));
}

/** What stands in the subject, and as a line of its own in the text; a subject alone has a section of its own. */
interface Statement {
  readonly subject: string;
  readonly line?: string;
}

/** The worst first: the subject may be all that somebody reads. */
function verdictOf(seal: MailedSeal, logs: readonly string[]): { subject: string; verdict: string } {
  const { summary, failing, plan, due } = seal;
  const all = summary.complete + summary.incomplete + due.absent.length;
  const integrity = integrityOf(seal);
  const others: Statement[] = [runsStatement(seal, all), ...logs.map((subject) => ({ subject }))];
  if (failing.length > 0)
    others.unshift({
      subject: `${formatCount(failing.length, 'cluster')} failing`,
      line: `Failing: ${count(failing.length)} of ${formatCount(plan.clusters, 'cluster')}.`,
    });
  const isWell = failing.length === 0 && summary.complete === all && logs.length === 0;
  const isFirst = openDamage(seal).count > 0 || isWell;
  const own = { subject: integrity, line: integrityLine(seal, integrity) };
  const statements = isFirst ? [own, ...others] : [...others, own];
  return {
    subject: statements.map(({ subject }) => subject).join(', '),
    verdict: statements.flatMap(({ line }) => line ?? []).join('\n'),
  };
}

/** What a subject has room for. */
const noDamage = 'no damage seen';

function integrityOf(seal: MailedSeal): string {
  const { count: damage, findings, since = '', acknowledged, unreadable } = openDamage(seal);
  const found = findings.filter((one) => one.since === seal.seal).length;
  if (damage > 0) return `DAMAGE open since ${since.slice(0, 10)}: ${count(damage)}, new: ${count(found)}`;
  if (unreadable.length > 0) return 'not everything could be read';
  if (acknowledged.length > 0) return `${count(acknowledged.length)} damaged, all acknowledged`;
  return noDamage;
}

function integrityLine({ verified: { objects, old } }: MailedSeal, integrity: string): string {
  if (integrity !== noDamage) return `${integrity.charAt(0).toUpperCase()}${integrity.slice(1)}.`;
  return `Nothing is damaged in what was read: ${formatCount(objects - old, 'new object')} and ${formatCount(old, 'old one')}.`;
}

function runsStatement({ due, summary }: MailedSeal, all: number): Statement {
  const { notJudged } = due;
  const span = notJudged && { from: new Date(notJudged.from), to: new Date(notJudged.to) };
  const unsure = span === null ? '' : `\n${wrapped(describeNotJudged(span).split(' '), '', ' ').join('\n')}`;
  if (all === 0) return { subject: 'no new run', line: `Runs: none since the seal before.${unsure}` };
  const complete = `${count(summary.complete)} of ${count(all)}`;
  const absent = due.absent.length;
  const subject = `${complete} runs complete`;
  if (absent === 0) return { subject, line: `Runs: ${complete} complete.${unsure}` };
  const left = `${count(absent)} that ${absent === 1 ? 'was' : 'were'} due left no record`;
  return { subject: `${subject}, ${count(absent)} absent`, line: `Runs: ${complete} complete; ${left}.${unsure}` };
}

/** A heading, some of what it counts, and how many more there are; nothing if there is nothing. */
function some(heading: string, total: number, lines: readonly string[], named = lines.length): string[] {
  return total === 0 ? [] : [heading, ...lines, ...more(total - named)];
}

/** The same with the count behind the heading. */
function counted(heading: string, total: number, lines: readonly string[], named?: number): string[] {
  return some(`${heading}: ${count(total)}`, total, lines, named);
}

function listed(names: readonly string[]): string[] {
  return names.map((name) => `  ${plain(name)}`);
}

/** Who joined and who left the list of clusters from outside. */
function memberLines({ clusters, summary: { clusters: first } }: MailedSeal): string[] {
  if (clusters === undefined || first === undefined) return [];
  return [
    ...counted('Clusters that joined the list', clusters.joined, wrapped(first.joined.map(plain)), first.joined.length),
    ...counted('Clusters that left the list', clusters.left, wrapped(first.left.map(plain)), first.left.length),
  ];
}

function openLines(seal: MailedSeal): string[] {
  const { findings, acknowledged, unreadable, since: oldest } = openDamage(seal);
  const known = acknowledged.length === 0 ? [] : [`Acknowledged: ${byKind(acknowledged)}.`];
  const open = [...findings, ...unreadable];
  if (open.length === 0) return known;
  const shown = open.slice(0, mostFindings);
  const lines = shown.flatMap(({ kind, key, problem, since }) => [
    `  ${kind} ${plain(key)}`,
    `    ${since === seal.seal ? 'new' : `since ${since.slice(0, 10)}`}: ${plain(problem)}`,
  ]);
  return [
    ...some(`Open: ${byKind(open)}`, open.length + seal.openMore, lines, shown.length),
    `  All of it: ${command('verify', seal.archive)}`,
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

function failingLines({ failing, summary: { reasons }, archive }: MailedSeal): string[] {
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
        `    ${which} ${minute(since)}, ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`,
        ...wrapped([...clusters.map(plain), ...(failed > clusters.length ? ['...'] : [])], '    '),
      ];
    }),
    ...more(reasons.length - mostReasons, 'reasons'),
    `  All of it: ${command(`runs ${last}`, archive)}`,
  ];
}

function staleLines(seal: MailedSeal, { staleAfterHours }: Pick<AuditPlan, 'staleAfterHours'>): string[] {
  const silent = hoursSinceRun(seal);
  if (staleAfterHours === undefined) return [];
  if (silent > staleAfterHours) return [`No run for ${count(Math.floor(silent))} hours: no cluster is fresh.`];
  const old = staleness(seal.failing, new Date(seal.listedFrom)).filter(({ hours }) => hours > staleAfterHours);
  const names = old
    .slice(0, mostStale)
    .map(({ cluster, hours }) => `${plain(cluster)} (${count(Math.floor(hours))} h)`);
  const heading = `Not archived for more than ${staleAfterHours} hours: ${formatCount(old.length, 'cluster')}`;
  return some(heading, old.length, wrapped(names), names.length);
}

function verifiedLines(seal: MailedSeal): string[] {
  const { objects, bytes, carriedOver, carriedOverRecords } = seal.verified;
  const read = `Read and compared: ${formatCount(objects, 'object')}, ${formatBytes(bytes)}.`;
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
  const { plan, cursor } = seal;
  const { all, notReadSince } = seal.verified;
  const lines: string[] = [];
  if (all !== null) lines.push(`All of the archive was read between ${minute(all.from)} and ${minute(all.to)}.`);
  if (notReadSince !== null)
    lines.push(
      `Old content was not read since ${minute(notReadSince)} (audit.rereadDays is false); each object was read when it was new.`,
    );
  else lines.push(`Old content is read again within ${formatCount(plan.rereadDays ?? 0, 'day')}.`);
  for (const [name, late] of [
    ['Listing', lateSince(cursor.listing, listingDays, seal)],
    ['Reading', lateSince(cursor.reading, plan.rereadDays, seal)],
  ])
    if (late !== undefined) lines.push(`${name} old content takes too long: it began ${late}. Audit more often.`);
  return lines;
}

/** How many passes over old content were not finished within their days. */
export function latePasses(seal: MailedSeal): number {
  const { listing, reading } = seal.cursor;
  const late = [lateSince(listing, listingDays, seal), lateSince(reading, seal.plan.rereadDays, seal)];
  return late.filter((one) => one !== undefined).length;
}

/** @param days undefined: it may take as long as it takes */
function lateSince(pass: Pass | null, days: number | undefined, { listedFrom }: MailedSeal): string | undefined {
  if (pass === null || pass.isDone || days === undefined) return undefined;
  return Date.parse(listedFrom) - Date.parse(pass.since) > days * dayMs ? minute(pass.since) : undefined;
}

function sealLines({ number, seal, archive, sha256 }: MailedSeal): string[] {
  return [
    `Seal ${number} of ${minute(seal)}, archive ${archive}`,
    `SHA-256 ${sha256}`,
    'Keep this mail: it is a proof outside the account.',
    `  ${command('verify', archive)} --head ${sha256}`,
  ];
}

function stampLines({ number }: MailedSeal, { authority, time, problem, lastStamped }: AskedStamp): string[] {
  if (time !== undefined) return [`Seal ${number} existed before ${time}, says ${authority}.`];
  const since = lastStamped === undefined ? '' : `; the last seal that is: that of ${minute(lastStamped)}`;
  return [`Seal ${number} is not stamped by ${authority}${since}`, `  ${plain(problem ?? '')}`];
}

/** As a person types it in the folder of the project. */
function command(text: string, archive: string): string {
  return `npm run collector -- ${text} --archive s3://${archive}`;
}
