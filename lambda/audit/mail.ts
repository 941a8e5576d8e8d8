import { groupReasons } from '../run/group-reasons';
import type { AuditPlan } from '../stack-contract';
import { countDamage, damageKinds } from '../verify/finding';
import type { Seal } from '../verify/seals/seal';
import type { Examined } from './examine';
import type { FailingCluster } from './freshness';
import { bytes, capital, clusters, count, minute, more, plain, quoted, subjectOf, wrapped } from './mail-text';

export interface Mail {
  /** ASCII, fewer than 100 characters: what SNS takes. */
  readonly subject: string;
  readonly text: string;
}

export interface AuditReport extends Omit<Examined, 'seal'> {
  readonly seal: Seal;
  /** Of the seal's file. */
  readonly sha256: string;
  readonly plan: AuditPlan;
  readonly archive: string;
}

const mostReasons = 5;
const mostFindings = 10;
const mostStale = 10;
const mostChanged = 50;

/** What happened since the seal before, the verdict first. */
export function auditMail(report: AuditReport): Mail {
  const { seal, sha256, archive, isFirst, growth } = report;
  const { subject, verdict } = verdictOf(report);
  const sections = [
    [...(isFirst ? ['FIRST SEAL: nothing earlier is attested.'] : []), verdict],
    damageLines(seal),
    absentLines(seal),
    failingLines(report),
    staleLines(report),
    changedLines(report),
    doubtLines(report),
    [
      `Archived: ${count(growth.objects)} objects, ${bytes(growth.bytes)} (${bytes(growth.storedBytes)} stored).`,
      ...verifiedLines(seal),
    ],
    sealLines({ ...seal, sha256, archive }),
  ];
  const text = sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
  return { subject: subjectOf(`${isFirst ? 'First seal: ' : ''}${subject}`, archive), text: `${text}\n` };
}

/** For a seal whose audit died before it could sign it and tell people. */
export function sealMail(
  seal: Pick<Seal, 'number' | 'seal' | 'found' | 'verified'> & { readonly sha256: string; readonly archive: string },
): Mail {
  const verdict = integrityOf(seal);
  const lines = [
    `${capital(verdict)}.`,
    'Its audit ended before it could sign the seal and say more.',
    'A later audit has compared the seal with the archive and signed it.',
    '',
    ...sealLines(seal),
  ];
  return { subject: subjectOf(verdict, seal.archive), text: `${lines.join('\n')}\n` };
}

/** The worst first: the subject may be all that somebody reads. */
function verdictOf(report: AuditReport): { subject: string; verdict: string } {
  const { seal, runs, failing, plan } = report;
  const all = runs.complete + runs.incomplete + seal.due.absent.length;
  const integrity = integrityOf(seal);
  const parts = [{ subject: integrity, line: `${capital(integrity)}.` }];
  const others = [runsVerdict(report, all)];
  if (failing.length > 0)
    others.unshift({
      subject: `${clusters(failing.length)} failing`,
      line: `Failing: ${count(failing.length)} of ${clusters(plan.clusters.length)}.`,
    });
  const isWell = failing.length === 0 && runs.complete === all;
  if (countDamage(seal.found) > 0 || isWell) parts.push(...others);
  else parts.unshift(...others);
  return {
    subject: parts.map(({ subject }) => subject).join(', '),
    verdict: parts.map(({ line }) => line).join('\n'),
  };
}

function integrityOf({ found, verified }: Pick<Seal, 'found' | 'verified'>): string {
  const damage = countDamage(found);
  if (damage > 0) return `DAMAGE: ${count(damage)} ${damage === 1 ? 'finding' : 'findings'}`;
  if ((found.unreadable ?? 0) > 0) return 'not everything could be read';
  const isAllRead = verified.carriedOver + verified.carriedOverRecords === 0;
  return isAllRead ? 'nothing is damaged' : 'nothing is damaged as far as it was read';
}

function runsVerdict({ seal: { due }, runs }: AuditReport, all: number): { subject: string; line: string } {
  if (all === 0) return { subject: 'no new run', line: 'Runs: none since the seal before.' };
  const complete = `${count(runs.complete)} of ${count(all)}`;
  const absent = due.absent.length;
  if (absent === 0) return { subject: `${complete} runs complete`, line: `Runs: ${complete} complete.` };
  const left = `${count(absent)} that ${absent === 1 ? 'was' : 'were'} due left no record`;
  return {
    subject: `${complete} runs complete, ${count(absent)} absent`,
    line: `Runs: ${complete} complete; ${left}.`,
  };
}

function damageLines({ found, findings, archive }: Seal): string[] {
  const kinds: readonly string[] = [...damageKinds, 'unreadable'];
  const total = kinds.reduce((sum, kind) => sum + (found[kind] ?? 0), 0);
  if (total === 0) return [];
  const shown = kinds.flatMap((kind) => findings.filter((finding) => finding.kind === kind)).slice(0, mostFindings);
  return [
    `Found: ${kinds.flatMap((kind) => (found[kind] ? `${count(found[kind])} ${kind}` : [])).join(', ')}`,
    ...shown.flatMap(({ kind, key, problem }) => [`  ${kind} ${plain(key)}`, `    ${plain(problem)}`]),
    ...more(total - shown.length),
    `  All of it: ${command('verify', archive)}`,
  ];
}

function absentLines({ findings }: Seal): string[] {
  const absent = findings.filter(({ kind }) => kind === 'absent');
  if (absent.length === 0) return [];
  const shown = absent.slice(0, mostFindings).map(({ key, problem }) => `  ${key}\n    ${plain(problem)}`);
  return ['Absent (no damage):', ...shown, ...more(absent.length - shown.length)];
}

function failingLines({ failing, archive }: AuditReport): string[] {
  if (failing.length === 0) return [];
  const byName = new Map(failing.map((one) => [one.cluster, one]));
  const groups = groupReasons(onePerCluster(failing));
  const last = failing.reduce((newest, one) => (one.last > newest ? one.last : newest), '');
  return [
    'Failing, by reason:',
    ...groups.slice(0, mostReasons).flatMap(({ reason, count: failed, clusters }) => {
      // Those that fail longest come first.
      const { since = '', runs = 0 } = byName.get(clusters[0] ?? '') ?? {};
      const which = failed === 1 ? 'since' : 'the first since';
      return [
        `  ${count(failed)} x ${plain(reason)}`,
        `    ${which} ${minute(since)}, ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`,
        ...wrapped([...clusters.map(plain), ...(failed > clusters.length ? ['...'] : [])], '    '),
      ];
    }),
    ...more(groups.length - mostReasons, 'reasons'),
    `  All of it: ${command(`runs ${last}`, archive)}`,
  ];
}

/** A cluster whose two resources fail counts once; one that no new run has covered keeps its place. */
function* onePerCluster(failing: readonly FailingCluster[]) {
  for (const { cluster, failures } of failing) {
    const [first = { cluster, resource: '', error: 'no new run covers it' }] = failures;
    yield first;
  }
}

function staleLines({ stale, hoursSinceRun, plan: { staleAfterHours } }: AuditReport): string[] {
  if (staleAfterHours !== undefined && hoursSinceRun > staleAfterHours)
    return [`No run for ${count(Math.floor(hoursSinceRun))} hours: no cluster is fresh.`];
  const old = staleAfterHours === undefined ? [] : stale.filter(({ hours }) => hours > staleAfterHours);
  if (old.length === 0) return [];
  const names = old
    .slice(0, mostStale)
    .map(({ cluster, hours }) => `${plain(cluster)} (${count(Math.floor(hours))} h)`);
  return [
    `Not archived for more than ${staleAfterHours} hours: ${clusters(old.length)}`,
    ...wrapped(names),
    ...more(old.length - names.length),
  ];
}

function changedLines({ changed, archive }: AuditReport): string[] {
  const [first] = changed;
  if (first === undefined) return [];
  const names = changed.slice(0, mostChanged).map(([cluster]) => plain(cluster));
  return [
    `Changed manifests: ${count(changed.length)}`,
    ...wrapped(names),
    ...more(changed.length - names.length),
    `  Show one: ${command(`diff ${quoted(plain(first[0]))}`, archive)}`,
  ];
}

function doubtLines({ doubts }: AuditReport): string[] {
  if (doubts.count === 0) return [];
  const shown = doubts.first.map((doubt) => `  ${plain(doubt)}`);
  return [`Archived with a doubt: ${count(doubts.count)}`, ...shown, ...more(doubts.count - shown.length)];
}

function verifiedLines({ verified }: Seal): string[] {
  const { objects, carriedOver, carriedOverRecords } = verified;
  const read = `Read and compared: ${count(objects)} objects, ${bytes(verified.bytes)}.`;
  if (carriedOver === 0 && carriedOverRecords === 0) return [read];
  const share = Math.floor((100 * objects) / (objects + carriedOver));
  return [
    read,
    `No time for ${count(carriedOver)} objects and ${count(carriedOverRecords)} run records (read ${share} %).`,
    'The next audit goes on there. If this stays so, audit more often.',
  ];
}

function sealLines({
  number,
  seal,
  sha256,
  archive,
}: Pick<Seal, 'number' | 'seal' | 'archive'> & { readonly sha256: string }): string[] {
  return [
    `Seal ${number} of ${minute(seal)}, archive ${archive}`,
    `SHA-256 ${sha256}`,
    'Keep this mail: it is a proof outside the account.',
    `  ${command('verify', archive)} --head ${sha256}`,
  ];
}

/** As a person types it in the folder of the project. */
function command(text: string, archive: string): string {
  return `npm run collector -- ${text} --archive s3://${archive}`;
}
