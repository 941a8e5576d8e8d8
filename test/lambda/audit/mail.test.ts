import { auditMail, type ToldSeal } from '../../../lambda/audit/mail';
import { groupReasons } from '../../../lambda/run/group-reasons';
import { plan } from './sealed-world';

const quiet: ToldSeal = {
  version: 1,
  number: 42,
  archive: 'archive-of-the-fleet',
  seal: '2026-11-21T05:30:00.000Z',
  previous: { key: 'seals/00000041.jsonl', sha256: 'a'.repeat(64) },
  passedOver: [],
  passedOverMore: 0,
  listedFrom: '2026-11-21T05:30:01.000Z',
  plan: { clusters: 1000, schedule: plan.schedule, auditSchedule: plan.auditSchedule },
  configurations: [],
  due: { runs: 24, absent: [] },
  verified: { objects: 47_400, bytes: 5_000_000_000, carriedOver: 0, carriedOverRecords: 0 },
  found: {},
  findings: [],
  open: [],
  openMore: 0,
  news: {
    complete: 24,
    incomplete: 0,
    lastRun: '2026-11-21T05:00:00.000Z',
    objects: 47_400,
    bytes: 5_000_000_000,
    storedBytes: 700_000_000,
    changed: { count: 0, clusters: [] },
    doubts: { count: 0, first: [] },
    repaired: { count: 0, first: [] },
    reasons: [],
  },
  failing: [],
  cursor: { records: null, verified: { seal: 43, record: 0, outcome: 0 }, searchedTo: null },
  keyArn: 'arn:aws:kms:eu-central-1:123456789012:key/seals',
  collectorVersion: '1.0.0',
};

const open = (kind: string, key: string, since: string) => ({ kind, key, problem: 'it is so', since });

const uids = (count: number) =>
  Array.from({ length: count }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`);

/** The mail of a quiet seal with changes. */
const mailOf = ({ news, ...more }: Partial<Omit<ToldSeal, 'news'>> & { news?: Partial<ToldSeal['news']> } = {}) =>
  auditMail({ ...quiet, ...more, news: { ...quiet.news, ...news } }, 'b'.repeat(64), plan);

/** Clusters that fail, each with its reason. */
const failing = (clusters: readonly (readonly [cluster: string, error: string])[]) => ({
  failing: clusters.map(([cluster]) => ({
    cluster,
    since: '2026-11-20T06:00:00.000Z',
    last: '2026-11-21T05:00:00.000Z',
    runs: 24,
    lastArchived: '2026-11-20T05:00:00.000Z',
  })),
  reasons: groupReasons(clusters.map(([cluster, error]) => ({ cluster, resource: 'log', httpStatus: 503, error }))).map(
    (group) => ({ ...group, clusters: [...group.clusters] }),
  ),
});

describe('the mail of an audit', () => {
  it('is short when there is nothing to say, and begins with the verdict', () => {
    const { subject, text } = mailOf();
    expect(subject).toBe('Audit: nothing is damaged, 24 of 24 runs complete (archive-of-the-fleet)');
    expect(text.split('\n').slice(0, 2)).toEqual(['Nothing is damaged.', 'Runs: 24 of 24 complete.']);
    expect(text.trimEnd().split('\n')).toHaveLength(10);
  });

  it('takes twenty lines for 300 of 1,000 clusters that fail for one reason', () => {
    const { reasons, ...failed } = failing(uids(300).map((uid) => [uid, `503 Service Unavailable (request ${uid})`]));
    const { subject, text } = mailOf({ ...failed, news: { complete: 0, incomplete: 24, reasons } });
    expect(subject).toMatch(/^Audit: 300 clusters failing, 0 of 24 runs complete, nothing is damaged/);
    expect(text).toMatch(/^Failing: 300 of 1,000 clusters\.\nRuns: 0 of 24 complete\.\nNothing is damaged\.\n/);
    expect(text).toContain('  300 x 503 Service Unavailable\n    the first since 2026-11-20 06:00Z, 24 runs');
    expect(text).toContain('runs 2026-11-21T05:00:00.000Z --archive s3://archive-of-the-fleet');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  });

  it('says how many runs were due and left no record, before what is well', () => {
    const due = { runs: 24, absent: Array.from({ length: 24 }, (_, hour) => new Date(hour).toISOString()) };
    const { subject, text } = mailOf({ due, news: { complete: 1 } });
    expect(subject).toMatch(/^Audit: 1 of 25 runs complete, 24 absent, nothing is damaged/);
    expect(text).toMatch(/^Runs: 1 of 25 complete; 24 that were due left no record\.\nNothing is damaged\.\n/);
    const none = mailOf({ due: { runs: 0, absent: [] }, news: { complete: 0 } });
    expect(none.text).toContain('Runs: none since the seal before.\n');
  });

  it('says in the subject that lines may be lost and logs are frozen, as long as that is news', () => {
    const of = (hours: string, isTold: boolean) => ({
      since: quiet.seal,
      last: `2026-11-2${hours}:00:00.000Z`,
      isTold,
    });
    const logs = {
      seams: { unchanged: 0, continues: 0, older: 0, gap: 2, unknown: 0 },
      gaps: ['a', 'b', 'a'].map((cluster) => ({ cluster, from: quiet.seal, to: quiet.seal })),
      gapsMore: 0,
      newShare: null,
      frozen: [
        { cluster: 'c', ...of('3T05', false) },
        { cluster: 'd', ...of('3T05', true) },
        { cluster: 'e', ...of('1T05', false) },
      ],
      onlyGaps: [],
      isTold: true,
    };
    expect(mailOf({ logs }).subject).toMatch(
      /^Audit: 24 of 24 runs complete, lines of 2 clusters may be lost, 1 frozen log, nothing is damaged \(/,
    );
    expect(mailOf({ logs: { ...logs, gaps: [], frozen: [] } }).subject).toMatch(/^Audit: nothing is damaged, 24 of 24/);
  });

  it('calls nothing undamaged that could not be read', () => {
    const { subject, text } = mailOf({ open: [open('unreadable', 'seals/*', quiet.seal)] });
    expect(subject).toMatch(/^Audit: not everything could be read, /);
    expect(text).toMatch(/^Not everything could be read\.\n/);
  });

  it('shows damage first, counts all of it and names a part', () => {
    const { subject, text } = mailOf({
      open: uids(60).map((uid, at) =>
        open('missing', `logs/cluster=${uid}/x`, at < 58 ? '2026-11-19T05:30:00.000Z' : quiet.seal),
      ),
    });
    expect(subject).toMatch(/^Audit: DAMAGE open since 2026-11-19: 60, new: 2, 24 of 24 runs complete/);
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

  it('counts what the seal has no room for as open', () => {
    const { subject } = mailOf({ open: [open('missing', 'x', quiet.seal)], openMore: 7 });
    expect(subject).toMatch(/^Audit: DAMAGE open since 2026-11-21: 8, new: 1,/);
  });

  it('says in one line what is acknowledged, and calls nothing undamaged then', () => {
    const acknowledged = [{ kind: 'missing', key: 'x', why: 'lost in the migration' }];
    const known = { plan: { ...quiet.plan, acknowledged }, open: [open('missing', 'x', quiet.seal)] };
    const { subject, text } = mailOf(known);
    expect(subject).toMatch(/^Audit: 1 damaged, all acknowledged, 24 of 24/);
    expect(text).toContain('\nAcknowledged: 1 missing.\n');
    const more = mailOf({ ...known, open: [...known.open, open('damaged', 'x', quiet.seal)] });
    expect(more.subject).toMatch(/^Audit: DAMAGE open since 2026-11-21: 1, new: 1,/);
    expect(more.text).toContain('Acknowledged: 1 missing.');
  });

  it('says what was repaired', () => {
    const { subject, text } = mailOf({
      news: { repaired: { count: 12, first: uids(12).map((uid) => `missing ${uid}`) } },
    });
    expect(subject).toMatch(/^Audit: nothing is damaged/);
    expect(text).toContain(`Repaired: 12\n  missing ${uids(1)[0]}\n`);
    expect(text).toContain('  and 2 more\n');
  });

  it('says that the first seal attests nothing earlier', () => {
    const { subject, text } = mailOf({ previous: null });
    expect(subject).toMatch(/^Audit: First seal: nothing is damaged/);
    expect(text).toMatch(/^FIRST SEAL: nothing earlier is attested\.\n/);
  });

  it('counts what was archived with a doubt, and names the first', () => {
    const first = ['manifest of a: it is JSON that ends too early', 'log of b: it has none of spec.log'];
    const { text } = mailOf({ news: { doubts: { count: 7, first } } });
    expect(text).toContain(`Archived with a doubt: 7\n  ${first.join('\n  ')}\n  and 5 more\n`);
    expect(mailOf().text).not.toContain('doubt');
  });

  it('names changed manifests, the first 50, and the command that shows one', () => {
    const { text } = mailOf({ news: { changed: { count: 60, clusters: uids(50) } } });
    expect(text).toContain('Changed manifests: 60\n');
    expect(text).toContain(
      `  and 10 more\n  Show one: npm run collector -- diff ${uids(1)[0]} --archive s3://archive-of-the-fleet\n`,
    );
  });

  it('tells what there was no time for', () => {
    const verified = { objects: 30, bytes: 1, carriedOver: 70, carriedOverRecords: 2 };
    const { text } = mailOf({ verified });
    expect(text).toContain('No time for 70 objects and 2 run records (read 30 %).');
    expect(text).toMatch(/^Nothing is damaged as far as it was read\.\n/);
  });

  it('has a subject that SNS takes and lines of its own, whatever clusters and reasons are called', () => {
    const evil = 'ü\u2028\r\nINJECTED\u202e';
    const { reasons, ...failed } = failing([[evil, evil]]);
    const { subject, text } = mailOf({
      ...failed,
      archive: 'x'.repeat(63),
      open: [{ kind: 'damaged', key: evil, problem: evil, since: quiet.seal }],
      news: {
        repaired: { count: 1, first: [evil] },
        reasons,
        changed: { count: 1, clusters: [evil] },
        doubts: { count: 1, first: [evil] },
      },
    });
    expect(subject).toMatch(/^[\x20-\x7e]{1,99}$/);
    expect(text).not.toMatch(/[\r\u2028\u202e]|^INJECTED/m);
  });
});
