import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describeInBrowser } from './browser';
import { hostile, writeReport } from './report-fixture';

describeInBrowser('the report in a browser', (browser) => {
  const clusters = ['alpha', 'changing', 'down', 'waiting', hostile.slice(0, 60)];
  let page: Page;
  let file: string;
  let complaints: string[];
  /** What the page asked for, and what was opened: nothing else may be asked for. */
  let requests: string[];
  let opened: string[];

  beforeAll(async () => {
    file = await writeReport(clusters, [8, 9, 10, 11]);
  });

  async function open(report: string): Promise<void> {
    opened.push(pathToFileURL(report).href);
    await page.goto(pathToFileURL(report).href);
  }

  beforeEach(async () => {
    page = await browser().newPage({ viewport: { width: 1280, height: 900 } });
    await page.clock.setFixedTime('2026-11-20T17:30:00Z');
    [complaints, requests, opened] = [[], [], []];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    await open(file);
  });

  afterEach(async () => {
    expect(complaints).toEqual([]);
    expect(requests).toEqual(opened);
    expect(await page.evaluate('window.owned')).toBeUndefined();
    await page.close();
  });

  const cell = (cluster: string, column: number) =>
    page.locator('#body .row', { has: page.getByText(cluster, { exact: true }) }).locator(`[data-column="${column}"]`);
  const classesOf = (cluster: string, column: number) =>
    cell(cluster, column)
      .locator('i')
      .evaluateAll((halves) => halves.map((half) => half.className));
  const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  const shownClusters = () => page.locator('#body .uid').allTextContents();

  it('each cell shows the outcomes of log and manifest', async () => {
    expect(await page.locator('#body .cell').count()).toBe(clusters.length * 4);
    expect(await classesOf('alpha', 0)).toEqual(['archived', 'archived']);
    expect(await classesOf('alpha', 2)).toEqual(['archived late', 'archived late']);
    expect(await classesOf('changing', 2)).toEqual(['archived late', 'archived changed late']);
    expect(await classesOf('changing', 3)).toEqual(['archived', 'archived']);
    expect(await classesOf('down', 3)).toEqual(['failed', 'failed']);
    expect(await classesOf('waiting', 3)).toEqual(['not-attempted', 'not-attempted']);
  });

  it('the totals add up', async () => {
    expect((await page.locator('.tile').allInnerTexts()).map(inOneLine)).toEqual([
      'Clusters 5',
      'Complete runs 2 of 4',
      'Archived 85.0 % 34 of 40',
      'Failed 4',
      'Not attempted 2',
      'Late 8',
      'With a doubt 1',
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
    await page.locator('#show').selectOption('failures');
    expect(await shownClusters()).toEqual(['down', 'waiting']);
    await page.locator('#show').selectOption('changes');
    expect(await shownClusters()).toEqual(['changing']);
    await page.locator('#show').selectOption('all');
    await page.locator('#order').selectOption('stale');
    expect((await shownClusters()).slice(0, 3)).toEqual(['down', 'waiting', clusters[4]]);
    await page.locator('#filter').fill('no such cluster');
    expect(await page.locator('#nothing').isVisible()).toBe(true);
  });

  it('the verdict comes first: the last run, its age, why it is not complete, and the command for that', async () => {
    const verdict = page.locator('main > :first-child');
    expect((await verdict.innerText()).split('\n').filter((line) => line !== '')).toEqual([
      'Last run, 6 h ago: 6 of 10 archived, 1 with a doubt',
      '2 failed, 2 not attempted, 2 reasons:',
      '2 × 503 Service Unavailable',
      '2 × stopped before the deadline',
      'Stalest clusters:',
      'down: not archived for 2 runs, 8 h; last archived by the run 2026-11-20T09:00:00Z',
      'waiting: not archived for 1 run, 7 h; last archived by the run 2026-11-20T10:00:00Z',
      'Run 2026-11-20T11:00:00Z · 1 attempt, 4.2 s · incomplete for 2 runs, since 2026-11-20T10:00:00Z',
      'Complete it',
      'npm run collector -- run --stack NAME --run 2026-11-20T11:00:00Z',
      'Every outcome',
      expect.stringMatching(/^npm run collector -- runs 2026-11-20T11:00:00Z --archive /),
    ]);
    expect(await verdict.getAttribute('class')).toContain('ill');
  });

  it.each([
    ['2026-11-20T11:00:30Z', 'just now'],
    ['2026-11-20T10:59:01Z', 'just now'],
    ['2026-11-20T10:00:00Z', 'in the future'],
    ['2026-11-20T11:59:59Z', '59 min ago'],
    ['2026-11-22T10:59:59Z', '47 h ago'],
    ['2026-11-23T11:00:00Z', '3 days ago'],
  ])('read at %s, the last run was %s', async (at, age) => {
    await page.clock.setFixedTime(at);
    await open(file);
    expect(await page.locator('#verdict h2').innerText()).toContain(`Last run, ${age}: `);
  });

  it('what the last run of the schedule leaves due is said in the verdict', async () => {
    const now = '2026-11-20T14:00:00Z';
    await open(await writeReport(['alpha'], [8, 9], ['--from', '2026-11-20T08:00'], { now, isBucket: true }));
    expect(await page.locator('#verdict').getAttribute('class')).toContain('doubtful');
    expect(await page.locator('#verdict').innerText()).toMatch(
      /2 of 2 archived\s+Not well: the schedule was due 3 times since 2026-11-20T10:00:00Z, .*complete$/s,
    );
  });

  it('a run that was due and is not there has a column, whose cells lead to the command that makes it up', async () => {
    const now = '2026-11-20T15:00:00Z';
    await open(await writeReport(['alpha', 'down'], [6, 9, 11], [], { now, isBucket: true }));
    const columns = await page.locator('#head .run').evaluateAll((runs) => runs.map((run) => run.classList[1]));
    const [first, second] = [
      ['complete', 'absent', 'absent'],
      ['complete', 'absent', 'incomplete', 'absent', 'absent'],
    ];
    expect(columns).toEqual([...first, ...second]);
    expect(await classesOf('alpha', 4)).toEqual(['absent', 'absent']);
    expect(await classesOf('alpha', 5)).toEqual(['archived', 'archived']);
    const verdict = await page.locator('#verdict').innerText();
    expect(verdict).toContain('Last run, 6 h ago: 2 of 4 archived');
    expect(verdict).toContain('the schedule was due 2 times since 2026-11-20T12:00:00Z');
    expect(verdict).toContain('3 runs before it were due and left no record, the last 2026-11-20T10:00:00Z');
    expect(verdict).toContain('the run before it was absent');
    expect((await page.locator('.tile', { hasText: 'Absent runs' }).innerText()).split('\n')[1]).toBe('5');
    await page.locator('#head .run').nth(4).hover();
    expect(await page.locator('#popup').innerText()).toBe(
      'Run 2026-11-20T10:00:00Z\nabsent: the schedule was due, and no record is there',
    );
    await cell('down', 4).click();
    expect(await page.locator('#chosen').innerText()).toMatch(
      /log: no run\s+manifest: no run\s+Make the run up\s+npm run collector -- run --stack NAME --run 2026-11-20T10:00:00Z --without-record$/,
    );
    expect(await page.locator('#failures details').innerText()).toContain('only in the last run');
  });

  it('clusters that fail now and then are named, in the verdict and in their cells', async () => {
    await open(await writeReport(['alpha', 'flapping'], [1, 2, 3, 4, 5, 6]));
    expect(await page.locator('#verdict').innerText()).toContain(
      'Fails now and then: flapping: 3 of 6 runs did not archive all of it',
    );
    await cell('flapping', 0).hover();
    expect(await page.locator('#popup').innerText()).toContain('fails now and then: 3 of 6 runs did not');
  });

  it('failures are grouped by reason, and lead to their cells', async () => {
    const groups = page.locator('#failures details');
    expect((await groups.allInnerTexts()).map(inOneLine)).toEqual([
      '4 × 503 Service Unavailable down · from 2026-11-20T10:00:00Z to the last run',
      '2 × stopped before the deadline waiting · only in the last run',
    ]);
    await groups.first().locator('summary').click();
    expect(await groups.first().locator('.entry').innerText()).toContain(`GET failed: ${hostile}`);
    await page.locator('#filter').fill('alpha');
    expect(await groups.count()).toBe(0);
    await page.locator('#filter').fill('GET failed');
    await groups.first().locator('summary').click();
    await groups.first().locator('button').first().click();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(/^down, 2026-11-20T11:00/);
  });

  it('doubts have a sign and a list of their own', async () => {
    expect(await classesOf(clusters[4] ?? '', 3)).toEqual(['archived', 'archived doubt']);
    await page.locator('#doubts summary').click();
    expect(await page.locator('#doubts .entry').innerText()).toContain(`odd: ${hostile}`);
    await page.locator('#show').selectOption('doubts');
    expect(await shownClusters()).toEqual([clusters[4]]);
  });

  it('a change opens to the command that shows it, in its list and in its cell', async () => {
    const change = page.locator('#changes details');
    expect(await change.count()).toBe(1);
    expect(await change.locator('code').first().isVisible()).toBe(false);
    await change.locator('summary').click();
    const command = await change.locator('code').first().innerText();
    expect(command).toMatch(/^npm run --silent collector -- diff --run 2026-11-20T10:00:00Z --archive \S+ changing$/);
    await cell('changing', 2).click();
    expect(await page.locator('#chosen code').allInnerTexts()).toContain(command);
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#chosen').innerText()).toContain('run 2026-11-20T11:00:00Z');
    await page.keyboard.press('Escape');
    expect(await page.locator('#chosen').isHidden()).toBe(true);
  });

  it('few runs fill the width', async () => {
    const [grid, last] = [await page.locator('#grid').boundingBox(), await cell('alpha', 3).boundingBox()];
    const gap = (grid?.x ?? 0) + (grid?.width ?? 0) - (last?.x ?? 0) - (last?.width ?? 0);
    expect(gap).toBeLessThan(4);
    expect(last?.width).toBeGreaterThan(150);
    expect(await page.locator('#head .own').allInnerTexts()).toEqual(['08:00', '09:00', '10:00', '11:00']);
  });

  it('the sizes are plotted, and the pointer reads them', async () => {
    await page.locator('.area.log').hover();
    expect(await page.locator('#popup').innerText()).toMatch(/^[\d.]+ (B|KiB)\nrun 2026-11-20/);
  });

  it.each(['light', 'dark'] as const)('text has enough contrast in %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.locator('#failures summary').first().click();
    await page.locator('#changes summary').click();
    const pairs =
      await page.evaluate(`['h1', '.quiet', '.tile dd', '.tile.alarming dd', '.uid', '.badge', '.own', '.group', '.link', 'summary .quiet', '#verdict h2', '.hint', 'code', '.when'].map((selector) => {
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
    const many = Array.from({ length: 2000 }, (_, at) => `cluster-${String(at).padStart(4, '0')}`);
    await open(await writeReport(many, [9]));
    expect(await page.locator('#body .row').count()).toBeLessThan(80);
    await page.locator('.cell[tabindex="0"]').focus();
    await page.keyboard.press('Control+End');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(/^cluster-1999, /);
    await page.locator('#filter').fill('cluster-17');
    expect(await page.locator('#shown').innerText()).toBe('100 of 2,000 clusters');
  });
});

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
