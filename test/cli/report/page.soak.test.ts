import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { Resource } from '../../../lambda/resources';
import { type Answer, ArchiveFixture, type AttemptFixture, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';
import { noBrowser, startBrowser } from './browser';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 20, at));
const hostile = `</script><script>window.owned = true</script><img src=x onerror="window.owned = true"><!--<script>`;

/** What each run meets, by cluster; everything else is archived. */
function answer(at: number, cluster: string, resource: Resource): Answer {
  if (cluster === 'down' && at > 9) return { failed: `GET failed: ${hostile}` };
  if (cluster === 'waiting' && at === 11) return { notAttempted: 'stopped before the deadline' };
  if (resource === 'log') return { content: logRecord(cluster, hostile), state: hostile };
  return { content: `cluster: ${cluster}\nreplicas: ${cluster === 'changing' && at > 9 ? 3 : 2}\n` };
}

async function writeReport(clusters: readonly string[], hours: readonly number[]): Promise<string> {
  const archive = await ArchiveFixture.create();
  for (const at of hours) {
    const attempt: AttemptFixture = { run: hour(at), clusters, answer: (c, r) => answer(at, c, r) };
    await archive.attempt(at === 10 ? { ...attempt, startedAt: hour(12) } : attempt);
  }
  const file = join(await mkdtemp(join(tmpdir(), 'collector-report-')), 'report.html');
  const { code, err } = await runCollector(['report', '--archive', archive.folder, '--out', file]);
  expect([code, err]).toEqual([0, expect.stringContaining('clusters')]);
  return file;
}

(noBrowser === undefined ? describe : describe.skip)(
  `the report in a browser${noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`}`,
  () => {
    const clusters = ['alpha', 'changing', 'down', 'waiting', hostile.slice(0, 60)];
    let browser: Browser;
    let page: Page;
    let file: string;
    let complaints: string[];
    let requests: string[];

    beforeAll(async () => {
      browser = await startBrowser();
      file = await writeReport(clusters, [8, 9, 10, 11]);
    });

    afterAll(async () => {
      await browser?.close();
    });

    async function open(report: string): Promise<void> {
      page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      complaints = [];
      requests = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(pathToFileURL(report).href);
    }

    beforeEach(() => open(file));

    afterEach(async () => {
      expect(complaints).toEqual([]);
      expect(requests).toEqual([pathToFileURL(file).href]);
      expect(await page.evaluate('window.owned')).toBeUndefined();
      await page.close();
    });

    const cell = (cluster: string, column: number) =>
      page
        .locator('.body .row', { has: page.getByText(cluster, { exact: true }) })
        .locator(`[data-column="${column}"]`);
    const classesOf = (cluster: string, column: number) =>
      cell(cluster, column)
        .locator('i')
        .evaluateAll((halves) => halves.map((half) => half.className));
    const shownClusters = () => page.locator('.body .uid').allTextContents();

    it('each cell shows the outcomes of log and manifest', async () => {
      expect(await page.locator('.body .cell').count()).toBe(clusters.length * 4);
      expect(await classesOf('alpha', 0)).toEqual(['archived', 'archived']);
      expect(await classesOf('alpha', 2)).toEqual(['archived late', 'archived late']);
      expect(await classesOf('changing', 2)).toEqual(['archived late', 'archived changed late']);
      expect(await classesOf('changing', 3)).toEqual(['archived', 'archived']);
      expect(await classesOf('down', 3)).toEqual(['failed', 'failed']);
      expect(await classesOf('waiting', 3)).toEqual(['not-attempted', 'not-attempted']);
    });

    it('the totals add up', async () => {
      const tiles = await page.locator('.tile').allInnerTexts();
      expect(
        tiles.map((tile) =>
          tile
            .split('\n')
            .filter((line) => line !== '')
            .join(' '),
        ),
      ).toEqual([
        'Clusters 5',
        'Complete runs 2 of 4',
        'Archived 85.0 % 34 of 40',
        'Failed 4',
        'Not attempted 2',
        'Late 8',
        'Manifest changes 1',
        expect.stringMatching(/^Content /),
      ]);
    });

    it('the pointer over a cell shows its details, hostile text as text', async () => {
      await cell('down', 2).hover();
      const popup = page.locator('#popup');
      expect(await popup.innerText()).toContain(`log: failed, GET failed: ${hostile}`);
      await cell('alpha', 0).hover();
      expect(await popup.innerText()).toContain(`state ${hostile}`);
      await page.locator('h1').hover();
      expect(await popup.isHidden()).toBe(true);
    });

    it('the keyboard reaches every cell, the filter, and back', async () => {
      await page.keyboard.press('/');
      expect(await page.evaluate('document.activeElement.id')).toBe('filter');
      await page.keyboard.type('chang');
      expect(await shownClusters()).toEqual(['changing']);
      await page.keyboard.press('Enter');
      const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
      expect(await focused()).toMatch(/^changing, 2026-11-20T11:00:00Z: log: archived/);
      await page.keyboard.press('ArrowLeft');
      expect(await focused()).toMatch(/^changing, 2026-11-20T10:00:00Z: .*manifest: archived, .*changed, late$/);
      expect(await page.locator('#popup').innerText()).toContain('manifest: archived');
      await page.keyboard.press('/');
      await page.keyboard.press('Escape');
      expect(await shownClusters()).toHaveLength(clusters.length);
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toMatch(/2026-11-20T08:00:00Z/);
      expect(await page.locator('.cell[tabindex="0"]').count()).toBe(1);
    });

    it('rows can be narrowed to what matters', async () => {
      await page.locator('#show').selectOption('failed');
      expect(await shownClusters()).toEqual(['down', 'waiting']);
      await page.locator('#show').selectOption('changed');
      expect(await shownClusters()).toEqual(['changing']);
      await page.locator('#filter').fill('no such cluster');
      expect(await page.locator('#nothing').isVisible()).toBe(true);
    });

    it('failures are listed with their reasons and lead to their cells', async () => {
      expect(await page.locator('#failure-rows tr').count()).toBe(6);
      const first = page.locator('#failure-rows tr').first();
      expect(await first.innerText()).toContain('stopped before the deadline');
      await page.locator('#filter').fill('alpha');
      expect(await page.locator('#failure-rows tr').count()).toBe(0);
      await page.locator('#filter').fill('GET failed');
      await page.locator('#failure-rows button').first().click();
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(
        /^down, 2026-11-20T11:00/,
      );
    });

    it('the sizes are plotted, and the pointer reads them', async () => {
      await page.locator('#log-sizes svg').hover();
      expect(await page.locator('#popup').innerText()).toMatch(/^[\d.]+ (B|KiB)\nrun 2026-11-20/);
    });

    it.each(['light', 'dark'] as const)('text has enough contrast in %s', async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      const pairs =
        await page.evaluate(`['h1', '.quiet', '.tile dd', '.tile.alarming dd', '.uid', '.badge', '.time', '.link', 'th'].map((selector) => {
      const shown = document.querySelector(selector);
      let behind = shown;
      while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
      return [selector, getComputedStyle(shown).color, getComputedStyle(behind).backgroundColor];
    })`);
      const poor: string[] = [];
      for (const [selector, ink, paper] of pairs as [string, string, string][])
        if (contrast(ink, paper) < 4.5) poor.push(`${selector}: ${contrast(ink, paper).toFixed(2)}`);
      expect(poor).toEqual([]);
    });

    it('thousands of clusters stay a few elements, and the last is one key away', async () => {
      await page.close();
      const many = Array.from({ length: 2000 }, (_, at) => `cluster-${String(at).padStart(4, '0')}`);
      const small = file;
      file = await writeReport(many, [9]);
      await open(file);
      expect(await page.locator('.body .row').count()).toBeLessThan(80);
      await page.locator('.cell[tabindex="0"]').focus();
      await page.keyboard.press('Control+End');
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(/^cluster-1999, /);
      await page.locator('#filter').fill('cluster-17');
      expect(await page.locator('#shown').innerText()).toBe('100 of 2,000 clusters');
      // The check after each test is about the page at hand.
      expect(requests).toEqual([pathToFileURL(file).href]);
      requests = [pathToFileURL(small).href];
      file = small;
    });
  },
);

/** Contrast of two colours as WCAG defines it. */
function contrast(a: string, b: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
