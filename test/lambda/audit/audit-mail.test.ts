import { counted, none } from '../../../archive/format/counted';
import type { FindingKind } from '../../../archive/format/finding';
import { emptyState } from '../../../archive/format/seal-state';
import { dueFrom } from '../../../lambda/audit/agenda';
import { auditMail } from '../../../lambda/audit/audit-mail';
import type { MailedSeal } from '../../../lambda/audit/mail-sections';
import { groupReasons } from '../../../lambda/group-reasons';
import { emptySeal } from '../../support/empty-seal';
import { plan } from './sealed-world';

const quiet: MailedSeal = {
  ...emptySeal,
  ...emptyState,
  number: 42,
  archive: 'archive-of-the-fleet',
  seal: '2026-11-21T05:30:00.000Z',
  previous: { key: 'seals/00000041.jsonl', sha256: 'a'.repeat(64) },
  listedFrom: '2026-11-21T05:30:01.000Z',
  plan: { clusters: 1000, schedule: plan.schedule, auditSchedule: plan.auditSchedule },
  due: { ...emptySeal.due, runs: 24 },
  verified: { ...emptySeal.verified, objects: 47_400, bytes: 5_000_000_000 },
  summary: {
    ...emptyState.summary,
    complete: 24,
    lastRun: '2026-11-21T05:00:00.000Z',
    objects: 47_400,
    bytes: 5_000_000_000,
    storedBytes: 700_000_000,
    read: { objects: 47_400, old: 0, bytes: 5_000_000_000 },
  },
  sha256: 'b'.repeat(64),
};

const all = <One>(list: readonly One[]) => counted(list, list.length);
const open = (kind: FindingKind, key: string, since: string) => ({ kind, key, problem: 'it is so', since });

/** A cluster whose manifest changed. */
const changedOf = (cluster: string) => ({
  cluster,
  from: '2026-11-21T04:00:00.000Z',
  to: '2026-11-21T05:00:00.000Z',
});

const uids = (count: number) =>
  Array.from({ length: count }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`);

type Changes = Partial<Omit<MailedSeal, 'summary'>> & { readonly summary?: Partial<MailedSeal['summary']> };

/** The mail of a quiet seal with changes. */
const mailOf = ({ summary, ...more }: Changes = {}) =>
  auditMail({ ...quiet, ...more, summary: { ...quiet.summary, ...summary } }, plan);

/** Clusters that fail, each with its reason. */
const failing = (clusters: readonly (readonly [cluster: string, error: string])[]) => ({
  failing: clusters.map(([cluster]) => ({
    cluster,
    since: '2026-11-20T06:00:00.000Z',
    last: '2026-11-21T05:00:00.000Z',
    runs: 24,
    lastArchived: '2026-11-20T05:00:00.000Z',
  })),
  reasons: groupReasons(clusters.map(([cluster, error]) => ({ cluster, resource: 'log', httpStatus: 503, error }))),
});

describe('the mail of an audit', () => {
  it('is short when there is nothing to say, and begins with the verdict', () => {
    const { subject, text } = mailOf();
    expect(subject).toBe('Audit: no damage seen, 24 of 24 runs complete (archive-of-the-fleet)');
    expect(text.split('\n').slice(0, 2)).toEqual([
      `Nothing is damaged in what was read: ${quiet.verified.objects.toLocaleString('en')} new objects and 0 old ones.`,
      'Runs: 24 of 24 complete.',
    ]);
    expect(text.trimEnd().split('\n')).toHaveLength(11);
  });

  it('takes twenty lines for 300 of 1,000 clusters that fail for one reason', () => {
    const { reasons, ...failed } = failing(uids(300).map((uid) => [uid, `503 Service Unavailable (request ${uid})`]));
    const { subject, text } = mailOf({ ...failed, summary: { complete: 0, incomplete: 24, reasons } });
    expect(subject).toMatch(/^Audit: 300 clusters failing, 0 of 24 runs complete, no damage seen/);
    expect(text).toMatch(
      /^Failing: 300 of 1,000 clusters\.\nRuns: 0 of 24 complete\.\nNothing is damaged in what was read: .*\n/,
    );
    expect(text).toContain('  300 x 503 Service Unavailable\n    the first since 2026-11-20T06:00:00Z, 24 runs');
    expect(text).toContain('runs 2026-11-21T05:00:00Z --archive s3://archive-of-the-fleet');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  });

  it('says in the subject that lines may be lost and logs are frozen, as long as that is news', () => {
    const of = (hours: string, isMailed: boolean) => ({
      since: quiet.seal,
      last: `2026-11-2${hours}:00:00.000Z`,
      isMailed,
    });
    const logs = {
      gaps: all(['a', 'b', 'a'].map((cluster) => ({ cluster, from: quiet.seal, to: quiet.seal }))),
      frozen: [
        { cluster: 'c', isEmpty: false, ...of('3T05', false) },
        { cluster: 'd', isEmpty: false, ...of('3T05', true) },
        { cluster: 'e', isEmpty: false, ...of('1T05', false) },
      ],
      onlyGaps: [],
      isMailed: true,
    };
    expect(mailOf({ logs }).subject).toMatch(
      /^Audit: 24 of 24 runs complete, lines of 2 clusters may be lost, 1 frozen log, no damage seen \(/,
    );
    expect(mailOf({ logs: { ...logs, gaps: none, frozen: [] } }).subject).toMatch(/^Audit: no damage seen, 24 of 24/);
  });

  it('says how many of the clusters that fail are new to people', () => {
    const { failing: all } = failing(uids(3).map((uid) => [uid, '503']));
    const known = (count: number) => all.map((one, at) => ({ ...one, isMailed: at < count }));
    const subjects = [0, 1, 3].map((count) => mailOf({ failing: known(count) }).subject);
    expect(subjects.map((subject) => subject.split(', ')[0])).toEqual([
      'Audit: 3 clusters failing',
      'Audit: 3 clusters failing (2 new)',
      'Audit: 3 clusters failing (none new)',
    ]);
  });

  it('shows damage first, counts all of it and names a part', () => {
    const { subject, text, pages } = mailOf({
      open: all(
        uids(60).map((uid, at) =>
          open('missing', `logs/cluster=${uid}/x`, at < 58 ? '2026-11-19T05:30:00.000Z' : quiet.seal),
        ),
      ),
    });
    expect(subject).toMatch(/^Audit: DAMAGE open since 2026-11-19: 60, new: 2, 24 of 24 runs complete/);
    // Those who are woken up by the alarm get the details too.
    expect([pages, mailOf().pages]).toEqual([true, false]);
    expect(text).toMatch(/^DAMAGE open since 2026-11-19: 60, new: 2\.\n/);
    expect(text).toContain(`Open: 60 missing\n  missing logs/cluster=${uids(59)[58]}/x\n    new: it is so\n`);
    expect(text.match(/since 2026-11-19: it is so/g)).toHaveLength(8);
    expect(text).toContain(
      '  and 50 more\n  All of it: npm run collector -- verify --archive s3://archive-of-the-fleet\n',
    );
    expect(text).toContain(
      'for 30 days after the damage, and longer if\n  it is locked: of the oldest until 2026-12-19 at',
    );
  });

  const absent = Array.from({ length: 24 }, (_, hour) => new Date(hour).toISOString());
  const lost = open('missing', 'x', quiet.seal);
  const known = { ...quiet.plan, acknowledged: [{ kind: 'missing', key: 'x', why: 'lost in the migration' }] };
  const doubts = ['manifest of a: it is JSON that ends too early', 'log of b: it has none of spec.log'];

  it.each<[string, Changes, RegExp, string]>([
    [
      'how many runs were due and left no record, before what is well',
      { due: { runs: 24, absent, notJudged: null }, summary: { complete: 1, absent: { count: 24, first: [] } } },
      /^Audit: 1 of 25 runs complete, 24 absent, no damage seen/,
      'Runs: 1 of 25 complete; 24 that were due left no record.\nNothing is damaged in what was read: ',
    ],
    [
      'what is absent, without a number: one finding may be of many runs',
      { summary: { absent: { count: 0, first: [{ key: 'runs/*', problem: '24 runs left no record' }] } } },
      /no damage seen/,
      '\nAbsent (no damage):\n  runs/*\n    24 runs left no record\n',
    ],
    [
      'that the schedule is switched off, and since when',
      { summary: { pausedSince: '2026-11-10T05:30:00.000Z' } },
      /^Audit: no damage seen, 24 of 24/,
      'The schedule is switched off since 2026-11-10T05:30:00Z.\n',
    ],
    [
      'that there was no run',
      { due: { runs: 0, absent: [], notJudged: null }, summary: { complete: 0 } },
      /no new run/,
      'Runs: none since the last mail.\n',
    ],
    [
      'what could not be read, which is not undamaged',
      { open: all([open('unreadable', 'seals/*', quiet.seal)]) },
      /^Audit: not everything could be read, /,
      'Not everything could be read.\n',
    ],
    [
      'how much is open, with what the seal has no room for',
      { open: { count: 8, first: [lost] } },
      /^Audit: DAMAGE open since 2026-11-21: 8, new: 1,/,
      '  and 7 more\n',
    ],
    [
      'what was not read although nothing is counted as left, because the state that counted it was lost',
      { todo: [dueFrom('new', new Date(quiet.seal))] },
      /^Audit: not seen yet: content that is new again, /,
      'Not seen yet: content that is new again.\n',
    ],
    [
      'what is acknowledged and why, which is not undamaged',
      { plan: known, open: all([lost]) },
      /^Audit: 1 damaged, all acknowledged, 24 of 24/,
      '\nAcknowledged: 1\n  missing x\n    lost in the migration\n',
    ],
    [
      'what is damaged beside it',
      { plan: known, open: all([lost, open('damaged', 'x', quiet.seal)]) },
      /^Audit: DAMAGE open since 2026-11-21: 1, new: 1,/,
      '\nAcknowledged: 1\n  missing x\n    lost in the migration\n',
    ],
    [
      'what was repaired',
      { summary: { repaired: { count: 12, first: uids(12) } } },
      /^Audit: no damage seen/,
      `Repaired: 12\n  ${uids(10).join('\n  ')}\n  and 2 more\n`,
    ],
    [
      'that the first seal attests nothing earlier',
      { previous: null },
      /^Audit: First seal: no damage seen/,
      'FIRST SEAL: nothing earlier is attested.\n',
    ],
    [
      'what was gone before the first seal, and stored configurations alone excuse',
      { previous: null, verified: { ...quiet.verified, expired: 24 } },
      /^Audit: First seal: no damage seen/,
      'FIRST SEAL: nothing earlier is attested.\nGone already, and excused as expired by stored configurations: 24.\n',
    ],
    [
      'where nobody can tell what was due',
      { due: { runs: 0, absent: [], notJudged: { from: quiet.seal, to: quiet.listedFrom } } },
      /24 of 24 runs complete/,
      '\nNot judged from 2026-11-21T05:30:00Z to\n2026-11-21T05:30:01Z: a schedule there is disabled, or\n',
    ],
    [
      'how many doubts there are, and the first',
      { summary: { doubts: { count: 7, first: doubts } } },
      /^Audit: no damage seen/,
      `Archived with a doubt: 7\n  ${doubts.join('\n  ')}\n  and 5 more\n`,
    ],
    [
      'which manifests changed, and the command that shows one',
      { summary: { changed: { count: 60, first: uids(50).map(changedOf) } } },
      /^Audit: no damage seen/,
      `  and 10 more\n  Show one: npm run collector -- history ${uids(1)[0]} --from 2026-11-21T04:00:00Z --to 2026-11-21T05:00:00Z --archive s3://archive-of-the-fleet\n`,
    ],
    [
      'when all of the archive was read, and what is late',
      {
        plan: { ...quiet.plan, rereadDays: 90 },
        verified: {
          ...quiet.verified,
          objects: 30,
          old: 20,
          all: { from: '2026-08-01T06:30:00.000Z', to: '2026-08-09T06:30:00.000Z' },
        },
        todo: [dueFrom('reading', new Date('2026-08-20T06:30:00.000Z'))],
      },
      /^Audit: no damage seen/,
      'All of the archive was read between 2026-08-01T06:30:00Z and 2026-08-09T06:30:00Z.\nOld content is read again within 90 days.\n' +
        'Reading old content takes too long: it began 2026-08-20T06:30:00Z. Audit more often.',
    ],
    [
      'since when old content is not read again',
      { verified: { ...quiet.verified, notReadSince: '2026-11-01T06:30:00.000Z' } },
      /^Audit: no damage seen/,
      'Old content was not read since 2026-11-01T06:30:00Z (audit.rereadDays is false); each object was read when it was new.',
    ],
    [
      'what there was no time for',
      {
        verified: {
          objects: 30,
          old: 0,
          bytes: 1,
          carriedOver: 70,
          carriedOverRecords: 2,
          expired: 0,
          all: null,
          notReadSince: null,
        },
      },
      /^Audit: not seen yet: 70 objects, 2 run records, 24 of 24 runs complete/,
      'No time for 70 objects and 2 run records (read 30 %).',
    ],
  ])('says %s', (_, changes, subject, text) => {
    const mail = mailOf(changes);
    expect(mail.subject).toMatch(subject);
    expect(mail.text).toContain(text);
  });

  it('has a subject that SNS takes and lines of its own, whatever clusters and reasons are called', () => {
    const evil = 'ü\u2028\r\nINJECTED\u202e';
    const { reasons, ...failed } = failing([[evil, evil]]);
    const { subject, text } = mailOf({
      ...failed,
      archive: 'x'.repeat(63),
      open: all([{ kind: 'damaged', key: evil, problem: evil, since: quiet.seal }]),
      summary: {
        repaired: { count: 1, first: [evil] },
        reasons,
        changed: { count: 1, first: [changedOf(evil)] },
        doubts: { count: 1, first: [evil] },
      },
    });
    expect(subject).toMatch(/^[\x20-\x7e]{1,99}$/);
    expect(text).not.toMatch(/[\r\u2028\u202e]|^INJECTED/m);
  });
});
