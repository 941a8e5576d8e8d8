import type { AuditPlan } from '../../archive/format/plan';
import { verdictValue } from '../../archive/format/verdict';
import { describeNotJudged, openDamage, shorterRetention } from '../../archive/prove/attest';
import { type Mail, subjectOf } from '../notify/mail';
import { formatBytes, formatCount, formatTime, shellQuoted } from '../plain-text';
import { count, plain, withShortTimes, wrapped } from './mail-lines';
import {
  command,
  countedLines,
  failingLines,
  listed,
  type MailedSeal,
  memberLines,
  mostFindings,
  notCollectedLines,
  openLines,
  sealLines,
  some,
  stampLines,
  unusualLines,
  verdictOf,
  verifiedLines,
} from './mail-sections';
import { seamLines } from './seam-summary';
import type { AskedStamp } from './stamp-seal';

/**
 * What happened since the newest seal that people got a mail of, the verdict first.
 * @param plan as the audit is deployed now
 * @param stamps what the authorities answered
 */
export function auditMail(
  seal: MailedSeal,
  plan: Pick<AuditPlan, 'frozenAfterHours'>,
  stamps: readonly AskedStamp[] = [],
): Mail {
  const { archive, summary, previous, found, findings } = seal;
  const { repaired, doubts, changed } = summary;
  const isFirst = previous === null;
  const logs = seamLines(seal.logs, archive, plan.frozenAfterHours);
  const { subject, verdict } = statementsOf(seal, logs.subjects);
  // What a slip deletes can be brought back for some days only.
  const shorter = openDamage(seal).findings.flatMap(({ problem }) =>
    problem.startsWith(shorterRetention) ? `RETENTION: ${problem}` : [],
  );
  const unvouched = findings.flatMap(({ kind, key }) => (kind === 'unvouched' ? key : []));
  const absentLines = summary.absent.first.map(({ key, problem }) => `  ${plain(key)}\n    ${plain(problem)}`);
  const changedNames = changed.first.map(({ cluster }) => plain(cluster));
  const sections = [
    [
      ...shorter.map((text) => wrapped(text.split(' '), '', ' ').join('\n')),
      ...(isFirst ? firstLines(seal) : []),
      verdict,
    ],
    countedLines('Repaired', repaired.count, listed(repaired.first.slice(0, mostFindings))),
    openLines(seal),
    // The run records that should vouch for it are damage of their own.
    countedLines(
      'Unvouched, because their run records were replaced or are gone',
      found.unvouched ?? 0,
      listed(unvouched.slice(0, mostFindings)),
    ),
    some('Absent (no damage):', absentLines.length, absentLines.slice(0, mostFindings)),
    memberLines(seal),
    notCollectedLines(seal),
    failingLines(seal),
    logs.lines,
    [
      ...countedLines('Changed manifests', changed.count, wrapped(changedNames), changedNames.length),
      ...changed.first.slice(0, 1).map(({ cluster, from, to }) => {
        const period = `--from ${from} --to ${to}`;
        return `  Show one: ${command(`history ${shellQuoted(plain(cluster))} ${period}`, archive)}`;
      }),
    ],
    unusualLines(seal),
    countedLines('Archived with a doubt', doubts.count, listed(doubts.first)),
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
  return { subject: subjectOf(`Audit: ${first}${subject} (${archive}`, ')'), text: withShortTimes(`${text}\n`), pages };
}

/** What was gone before anything was attested, stored configurations alone excuse. */
function firstLines({ verified: { expired } }: MailedSeal): string[] {
  const gone = `Gone already, and excused as expired by stored configurations: ${count(expired)}.`;
  return ['FIRST SEAL: nothing earlier is attested.', ...(expired === 0 ? [] : [gone])];
}

/** What stands in the subject, and as a line of its own in the text; a subject alone has a section of its own. */
interface Statement {
  readonly subject: string;
  readonly line?: string;
}

/** The worst first: the subject may be all that somebody reads. */
function statementsOf(seal: MailedSeal, logs: readonly string[]): { subject: string; verdict: string } {
  const { summary, failing, plan } = seal;
  const all = summary.complete + summary.incomplete + summary.absent.count;
  const integrity = integrityOf(seal);
  const others: Statement[] = [runsStatement(seal, all), ...logs.map((subject) => ({ subject }))];
  if (failing.length > 0)
    others.unshift({
      subject: `${formatCount(failing.length, 'cluster')} failing${newOf(failing)}`,
      line: `Failing: ${count(failing.length)} of ${formatCount(plan.clusters, 'cluster')}.`,
    });
  const isWell = failing.length === 0 && summary.complete === all && logs.length === 0;
  const isFirst = openDamage(seal).count > 0 || verdictValue(verdictOf(seal)) !== 'right' || isWell;
  const own = { subject: integrity, line: integrityLine(seal, integrity) };
  const statements = isFirst ? [own, ...others] : [...others, own];
  return {
    subject: statements.map(({ subject }) => subject).join(', '),
    verdict: statements.flatMap(({ line }) => line ?? []).join('\n'),
  };
}

/** How many of the clusters that fail no mail before has; nothing if all of them are new. */
function newOf(failing: MailedSeal['failing']): string {
  const known = failing.filter(({ isMailed }) => isMailed === true).length;
  const fresh = failing.length - known;
  return known === 0 ? '' : ` (${fresh === 0 ? 'none' : count(fresh)} new)`;
}

/** What a subject has room for. */
const noDamage = 'no damage seen';

function integrityOf(seal: MailedSeal): string {
  const { count: damage, findings, since = '', acknowledged, unreadable } = openDamage(seal);
  const found = findings.filter((one) => one.since === seal.seal).length;
  if (damage > 0) return `DAMAGE open since ${since.slice(0, 10)}: ${count(damage)}, new: ${count(found)}`;
  if (unreadable.length > 0) return 'not everything could be read';
  const { notSeen } = verdictOf(seal);
  if (notSeen.length > 0) return `not seen yet: ${notSeen.map(({ what }) => what).join(', ')}`;
  if (acknowledged.length > 0) return `${count(acknowledged.length)} damaged, all acknowledged`;
  return noDamage;
}

function integrityLine({ summary: { read } }: MailedSeal, integrity: string): string {
  if (integrity !== noDamage) return `${integrity.charAt(0).toUpperCase()}${integrity.slice(1)}.`;
  return `Nothing is damaged in what was read: ${formatCount(read.objects - read.old, 'new object')} and ${formatCount(read.old, 'old one')}.`;
}

function runsStatement(seal: MailedSeal, all: number): Statement {
  const { due, summary } = seal;
  const { notJudged } = due;
  const span = notJudged && { from: new Date(notJudged.from), to: new Date(notJudged.to) };
  const paused =
    summary.pausedSince === undefined ? '' : `\nThe schedule is switched off since ${formatTime(summary.pausedSince)}.`;
  const unsure = paused + (span === null ? '' : `\n${wrapped(describeNotJudged(span).split(' '), '', ' ').join('\n')}`);
  if (all === 0) return { subject: 'no new run', line: `Runs: none since the last mail.${unsure}` };
  const complete = `${count(summary.complete)} of ${count(all)}`;
  const absent = summary.absent.count;
  const subject = `${complete} runs complete`;
  if (absent === 0) return { subject, line: `Runs: ${complete} complete.${unsure}` };
  const left = `${count(absent)} that ${absent === 1 ? 'was' : 'were'} due left no record`;
  return { subject: `${subject}, ${count(absent)} absent`, line: `Runs: ${complete} complete; ${left}.${unsure}` };
}
