import { createHash } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { runRecordKey } from '../../../archive/format/keys';
import { forEachResource } from '../../../archive/format/resources';
import { clustersToShow } from '../../../cli/report/grid';
import { newFolder } from '../../support/new-folder';
import { ArchiveFixture, type AttemptFixture, answerBut, hour, logRecord } from '../archive-fixture';
import { asBucket, operatorArchive } from '../operator-archive';
import { runCollector } from '../run-collector';

const hostile = `</script><script>owned()</script><!--<script>\u2028&amp;"'<img src=x onerror=owned()>`;
const answer: AttemptFixture['answer'] = (cluster, resource) =>
  cluster === 'down'
    ? { failed: hostile }
    : { content: resource === 'log' ? logRecord(cluster, hostile) : 'kind: Namespace\n', state: hostile };

async function reportOf(folder: string, args: readonly string[] = [], now?: string) {
  const command = ['report', '--archive', folder, '--out', '-', ...args];
  const { code, out: page, err } = await runCollector(command, now === undefined ? {} : { now: new Date(now) });
  return { code, err, page, ...partsOf(page) };
}

/** What a person reads in the parts of a page: text without tags. */
function partsOf(page: string) {
  const part = (pattern: RegExp) => textOf(pattern.exec(page)?.[0] ?? '');
  const rows = [...page.matchAll(/<th scope="row">[\s\S]*?<\/tr>/g)].map(([row]) => row);
  return {
    verdict: part(/<section id="verdict"[\s\S]*?<\/section>/),
    failures: part(/<section id="failures"[\s\S]*?<\/section>/),
    doubts: part(/<section id="doubts"[\s\S]*?<\/section>/),
    changes: part(/<section id="changes"[\s\S]*?<\/section>/),
    clusters: rows.map((row) => textOf(/<span[^>]*>(.*?)<\/span>/.exec(row)?.[0] ?? '')),
    /** Of each cluster the classes of its cells, or of the log and the manifest in them. */
    cells: rows.map((row) => [...row.matchAll(/<td[\s\S]*?<\/td>/g)].map(([cell]) => classesOf(cell))),
    opened: [...page.matchAll(/<details name="cell">[\s\S]*?<\/details>/g)].map(([one]) => textOf(one)),
  };
}

function classesOf(cell: string): string {
  const [, own] = /^<td class="([^"]*)">/.exec(cell) ?? [];
  return (
    own ?? [...cell.matchAll(/<i class="([^"]*)">/g)].flatMap(([, kind]) => (kind === 'none' ? [] : kind)).join(' ')
  );
}

function textOf(markup: string): string {
  const text = markup.replace(/<\/(p|h2|h3|li|div|dt|dd|summary)>/g, ' ').replace(/<[^>]*>/g, '');
  const named = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' } as const;
  const plain = text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: keyof typeof named) => named[name]);
  return plain.replace(/\s+/g, ' ').trim();
}

describe('report', () => {
  let archive: ArchiveFixture;

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
    for (const at of [8, 9])
      await archive.attempt({ run: hour(at), clusters: ['alpha', 'down', hostile.slice(0, 40)], answer });
  });

  it('the policy of the page allows its own style by its hash, and nothing else', async () => {
    const { page } = await reportOf(archive.folder);
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'");
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(policy).toBe(`default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`);
  });

  it('whatever the service said is text on the page, and nothing of it is markup', async () => {
    await archive.attempt({ run: hour(10), clusters: ['odd'], answer: () => ({ content: 'x', doubt: hostile }) });
    const { page, clusters, opened, doubts } = await reportOf(archive.folder);
    const shown = hostile.replace('\u2028', '\\u{2028}');
    expect(clusters).toContain(hostile.slice(0, 40));
    expect([opened.join(), doubts]).toEqual([expect.stringContaining(shown), expect.stringContaining(shown)]);
    expect(page).not.toMatch(/<script|<img|<!--|\u2028/);
    const tags = [...page.matchAll(/<[^>]*>/g)].join('').replace(/"[^"]*"/g, '');
    expect(tags).not.toMatch(/\s(src|href|style|on\w+)=/);
    expect(page).not.toMatch(/url\(|@import|https?:\/\//);
  });

  it('a damaged run record is on the page, and the exit code says so', async () => {
    await archive.put(runRecordKey({ run: hour(10), attempt: 1 }), Buffer.from('{}'), {});
    const { code, err, verdict } = await reportOf(archive.folder);
    expect(code).toBe(1);
    expect(err).toMatch(/^damaged: it is not a valid run record.*\n {2}runs\/date=2026-11-20/m);
    expect(verdict).toMatch(/Damage, or not read: damaged: runs\/date=2026-11-20.* it is not a valid run record/);
    expect(verdict).toContain('npm run collector -- verify --archive');
  });

  it('a period without runs makes no page', async () => {
    const { code, err, page } = await reportOf(archive.folder, ['--from', '2027-01-01']);
    expect([code, page]).toEqual([3, '']);
    expect(err).toContain('Writing the report failed: no run lies in this period; the archive has ');
  });

  it('is written to a file, whose size it names', async () => {
    const out = join(archive.folder, 'report.html');
    const { code, err } = await runCollector(['report', '--archive', archive.folder, '--out', out]);
    expect([code, err]).toEqual([0, expect.stringMatching(/report\.html: 3 clusters, 2 runs, [\d.]+ KiB\n$/)]);
    expect(await readFile(out, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  });

  it('the verdict says how the last run ended and why, for how long, and what to do', async () => {
    const { verdict } = await reportOf(archive.folder, [], '2026-11-20T09:20:00Z');
    expect(verdict).toMatch(/^4 of 6 archived by the last run Run 2026-11-20T09:00:00Z, 20 min before this page was/);
    expect(verdict).toContain('incomplete or absent for 2 runs, all on this page');
    expect(verdict).toContain('Not archived for longest: down, at least 2 runs, 1 h');
    expect(verdict).toContain('npm run collector -- run --stack NAME --run 2026-11-20T09:00:00Z');
    expect(verdict).toContain('npm run collector -- runs 2026-11-20T09:00:00Z --archive');
  });

  it('an absent run ends no bad streak, and what was due in it counts as not archived', async () => {
    const long = await operatorArchive(30);
    const { verdict, opened, cells } = await reportOf(long.folder);
    expect(verdict).toContain('incomplete or absent for 60 runs, all on this page');
    expect(verdict).toContain('1 scheduled run before it left no record, the last 2025-11-15T00:00:00Z');
    expect(verdict).toContain('run --stack NAME --run 2025-11-15T00:00:00Z --without-record');
    expect(verdict).toContain('93.4 % archived of 3,600 due');
    expect(opened.filter((text) => text.includes('absent: the run was scheduled, and left no record'))).toHaveLength(1);
    expect(cells[0]?.indexOf('absent')).toBe(30);
  });

  it('absent runs in a row are one column, which says how many they are, and all of them count', async () => {
    await archive.attempt({ run: hour(12), clusters: ['alpha'], answer });
    await archive.attempt({ run: hour(12 + 61), clusters: ['alpha'], answer });
    const { cells, page, verdict } = await reportOf(archive.folder);
    // The run before the absent ones was complete too.
    expect(verdict).toContain('complete for 1 run, since 2026-11-23T01:00:00Z');
    expect(cells[0]).toHaveLength(2 + 1 + 1 + 1 + 1);
    expect(page).toContain('absent: 60 runs up to 2026-11-23T00:00:00Z were scheduled, and left no record');
    expect(verdict).toContain('8.1 % archived of 148 due');
    expect(verdict).toContain('62 scheduled runs before it left no record');
  });

  it('a failed cell gives its reasons, and the command that explains them', async () => {
    const { opened, cells } = await reportOf(archive.folder);
    expect(cells[2]).toEqual(['failed failed', 'failed failed']);
    const failed = opened.filter((text) => text.startsWith('×× down, run'));
    expect(failed).toHaveLength(2);
    expect(failed[0]).toMatch(
      /down, run 2026-11-20T08:00:00Z log: failed, 503 Service Unavailable manifest: failed, 503 /,
    );
    expect(failed[0]).toContain(`npm run collector -- runs --cluster=down --archive ${archive.folder}`);
  });

  describe('a change', () => {
    /** The sign of each cell of the manifest: `A` archived, `C` changed, `F` failed, `-` not covered. */
    async function manifestsOf(versions: readonly string[]) {
      const other = await ArchiveFixture.create();
      for (const [at, version] of versions.entries())
        await other.attempt({
          run: hour(at),
          clusters: at < 3 ? ['a'] : ['a', 'b'],
          answer: (cluster, resource) => {
            if (version === 'none') return { failed: 'no answer' };
            return { content: resource === 'log' ? logRecord(cluster, 'same') : `v: ${version}\n` };
          },
        });
      const signs = {
        '': 'A',
        none: '-',
        'archived archived': 'A',
        'archived changed': 'C',
        'failed failed': 'F',
      } as const;
      const found = await reportOf(other.folder);
      const letters = (classes: string[]) => classes.map((one) => signs[one as keyof typeof signs] ?? one).join('');
      return { ...found, letters: found.cells.map(letters) };
    }

    it('counts from the last content known; a cluster that comes later has nothing before', async () => {
      const { letters } = await manifestsOf(['1', 'none', '1', 'none', '2']);
      expect(letters).toEqual(['AFAFC', '---FA']);
    });
  });

  it('late content, doubts and clusters that are not attempted have signs of their own', async () => {
    const other = await ArchiveFixture.create();
    const answers = { odd: { content: 'x', doubt: 'it is odd' }, waiting: { notAttempted: 'the time limit is near' } };
    const clusters = ['late', 'odd', 'waiting'];
    await other.attempt({ run: hour(8), startedAt: hour(10), clusters, answer: answerBut(answers) });
    const { cells, doubts, verdict } = await reportOf(other.folder);
    expect(cells).toEqual([['late late'], ['doubt doubt'], ['not-attempted not-attempted']]);
    expect(doubts).toContain('2 × it is odd odd · only in the last run');
    expect(verdict).toContain('4 of 6 archived by the last run, 2 with a doubt');
  });

  it('of a large fleet the table has the clusters with anything to say, the worst first; --all has every one', () => {
    const none = { failures: 0, marks: 0 };
    const counts = {
      'c-77': { ...none, failures: 2 },
      'c-500': { ...none, marks: 9 },
      'c-3': { ...none, failures: 5 },
    };
    const clusters = Array.from({ length: 10_001 }, (_, at) => ({
      uid: `c-${at}`,
      cells: forEachResource(() => []),
      newest: forEachResource(() => ({})),
      ...{ ...none, ...counts[`c-${at}` as keyof typeof counts] },
    }));
    const uids = (shown: readonly { uid: string }[]) => shown.map(({ uid }) => uid);
    expect(uids(clustersToShow(clusters, 2, false))).toEqual(['c-3', 'c-77', 'c-500']);
    expect(clustersToShow(clusters, 2, true)).toHaveLength(10_001);
    expect(uids(clustersToShow(clusters.slice(0, 10_000), 2, false)).slice(8, 12)).toEqual([
      ...['c-8', 'c-9', 'c-10', 'c-11'],
    ]);
    const failing = clusters.map((one) => ({ ...one, failures: 1 }));
    expect(clustersToShow(failing, 2, false)).toHaveLength(10_000);
  });

  it('what is overdue is said of a bucket, and not of a copy or of older runs', async () => {
    const bucket = await asBucket(archive.folder);
    bucket.time = new Date('2026-11-20T14:00:00Z');
    const verdictOf = async (location: string, ...args: string[]) =>
      (await reportOf(location, args, '2026-11-20T14:00:00Z')).verdict;
    expect(await verdictOf(bucket.location)).toMatch(
      /Overdue: .*2026-11-20T10:00:00Z.*collector -- doctor --stack NAME/,
    );
    expect(await verdictOf(archive.folder)).not.toContain('Overdue');
    expect(await verdictOf(bucket.location, '--to', '2026-11-20T08:00')).not.toContain('Overdue');
    await bucket.close();
  });
});

describe('the commands of the report', () => {
  it.each([
    'plain',
    "it's a 'quoted' one",
    '--looks-like-an-option',
  ])('work as they stand, for cluster %s', async (uid) => {
    const archive = await ArchiveFixture.create();
    for (const at of [8, 9, 10])
      await archive.attempt({
        run: hour(at),
        clusters: [uid],
        answer: (_, resource) => {
          if (at === 10 && resource === 'log') return { failed: 'no answer' };
          return { content: resource === 'log' ? logRecord(uid, `log ${at}`) : `replicas: ${at}\n`, doubt: 'odd' };
        },
      });
    const folder = join(newFolder(), "it's an archive");
    await rename(archive.folder, folder);
    const { page } = await reportOf(folder);
    const commands = [...page.matchAll(/<code>(.*?)<\/code>/g)].map(([, line = '']) => textOf(line));
    const ran = async (pattern: RegExp) => {
      const words = shellWords(commands.find((line) => pattern.test(line)) ?? '');
      expect(words.slice(0, words.indexOf('--'))).toEqual(expect.arrayContaining(['npm', 'run', 'collector']));
      return (await runCollector(words.slice(words.indexOf('--') + 1))).out;
    };
    expect(await ran(/diff --run 2026-11-20T09/)).toContain('-replicas: 8\n+replicas: 9');
    expect(await ran(/history --all --from 2026-11-20T09/)).toMatch(/^2026-11-20T09:00:00Z changed: 1 cluster: /);
    expect(await ran(/show --resource log --run 2026-11-20T09/)).toBe('log 9');
    expect(await ran(/runs 2026-11-20T10/)).toContain('1 of 2');
    expect(await ran(/runs --cluster=/)).toContain('503 Service Unavailable');
  });
});

/** The arguments of a command line as a shell reads it. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)];
  return words.map(([word]) => word.replace(/'([^']*)'|\\(.)/g, '$1$2'));
}
