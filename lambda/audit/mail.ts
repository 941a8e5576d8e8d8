import { groupReasons } from '../run/group-reasons';
import type { AuditPlan } from '../stack-contract';
import { damageKinds } from '../verify/finding';
import type { Seal } from '../verify/seals/seal';
import type { Examined } from './examine';
import type { FailingCluster } from './freshness';

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

/** Width of a telephone, in characters. Keys and hashes are longer. */
const width = 60;

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
  seal: Pick<Seal, 'number' | 'seal' | 'found'> & { readonly sha256: string; readonly archive: string },
): Mail {
  const damage = damageOf(seal);
  const verdict = damage === 0 ? 'nothing is damaged' : `DAMAGE: ${count(damage)} findings`;
  const lines = [
    `${capital(verdict)}.`,
    'Its audit ended before it could sign the seal and say more.',
    'A later audit has compared the seal with the archive and signed it.',
    '',
    ...sealLines(seal),
  ];
  return { subject: subjectOf(verdict, seal.archive), text: `${lines.join('\n')}\n` };
}

function verdictOf({ seal, runs, failing }: AuditReport): { subject: string; verdict: string } {
  const { due } = seal;
  const all = runs.complete + runs.incomplete;
  const complete = `${count(runs.complete)} of ${count(all + due.absent.length)} runs complete`;
  const damage = damageOf(seal);
  const what = damage > 0 ? `DAMAGE: ${count(damage)} ${damage === 1 ? 'finding' : 'findings'}` : 'nothing is damaged';
  const failed = failing.length === 0 ? '' : `, ${clusters(failing.length)} failing`;
  const dueLine = `${count(due.runs)} due, ${count(due.absent.length)} absent`;
  return {
    subject: `${what}, ${complete}${failed}`,
    verdict: `${capital(what)}.\nRuns: ${complete} (${dueLine}).`,
  };
}

function damageOf({ found }: Pick<Seal, 'found'>): number {
  return damageKinds.reduce((sum, kind) => sum + (found[kind] ?? 0), 0);
}

function damageLines({ found, findings, archive }: Seal): string[] {
  const kinds: readonly string[] = [...damageKinds, 'unreadable'];
  const shown = findings.filter(({ kind }) => kinds.includes(kind));
  const total = kinds.reduce((sum, kind) => sum + (found[kind] ?? 0), 0);
  if (total === 0) return [];
  return [
    `Found: ${kinds.flatMap((kind) => (found[kind] ? `${count(found[kind])} ${kind}` : [])).join(', ')}`,
    ...shown
      .slice(0, mostFindings)
      .flatMap(({ kind, key, problem }) => [`  ${kind} ${plain(key)}`, `    ${plain(problem)}`]),
    ...more(total - Math.min(shown.length, mostFindings)),
    `  All of it: collector verify --archive s3://${archive}`,
  ];
}

function absentLines({ findings }: Seal): string[] {
  const absent = findings.filter(({ kind }) => kind === 'absent');
  if (absent.length === 0) return [];
  const shown = absent.slice(0, mostFindings).map(({ key, problem }) => `  ${key}\n    ${plain(problem)}`);
  return ['Absent (no damage):', ...shown, ...more(absent.length - shown.length)];
}

function failingLines({ failing, plan }: AuditReport): string[] {
  if (failing.length === 0) return [];
  const byName = new Map(failing.map((one) => [one.cluster, one]));
  const groups = groupReasons(onePerCluster(failing));
  return [
    `Failing: ${count(failing.length)} of ${clusters(plan.clusters.length)}`,
    ...groups.slice(0, mostReasons).flatMap(({ reason, count: failed, clusters }) => {
      const own = clusters.flatMap((cluster) => byName.get(cluster) ?? []);
      const since = own.map((one) => one.since).sort()[0] ?? '';
      const runs = Math.max(0, ...own.map((one) => one.runs));
      const names = clusters.map(plain).join(', ');
      return [
        `  ${count(failed)} x ${plain(reason)}`,
        `    since ${minute(since)}, ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`,
        `    ${names}${failed > clusters.length ? ', ...' : ''}`,
      ];
    }),
    ...more(groups.length - mostReasons, 'reasons'),
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
    `  Show one: collector diff ${quoted(plain(first[0]))} --archive s3://${archive}`,
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
    `  collector verify --archive s3://${archive} --head ${sha256}`,
  ];
}

/** Longest subject that SNS takes, in characters. */
const mostSubject = 99;

function subjectOf(verdict: string, archive: string): string {
  return `Audit: ${verdict} (${archive}`
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, mostSubject - 1)
    .concat(')');
}

/** Names from outside as they may stand in a line of a mail. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 300);
}

function quoted(text: string): string {
  return /^[\w.@%+=:,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function wrapped(names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [at, name] of names.entries()) {
    const part = at < names.length - 1 ? `${name}, ` : name;
    if (line !== '' && line.length + part.length > width) {
      lines.push(`  ${line.trimEnd()}`);
      line = '';
    }
    line += part;
  }
  return [...lines, `  ${line}`];
}

function more(left: number, what = ''): string[] {
  return left > 0 ? [`  and ${count(left)} more${what === '' ? '' : ` ${what}`}`] : [];
}

function minute(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')}Z`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function clusters(value: number): string {
  return `${count(value)} ${value === 1 ? 'cluster' : 'clusters'}`;
}

function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const at = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log2(value) / 10));
  return `${at === 0 ? value : (value / 1024 ** at).toFixed(1)} ${units[at]}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
