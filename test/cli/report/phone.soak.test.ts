import { pathToFileURL } from 'node:url';
import { describeInBrowser } from './browser';
import { writeReport } from './report-fixture';

const width = 400;

describeInBrowser('the report on a phone', (browser) => {
  describe.each([5, 40, 1000])('with %i clusters', (count) => {
    let file: string;

    beforeAll(async () => {
      const special = [`down-${'0123456789abcdef'.repeat(8)}`, 'changing', 'waiting', '</script odd'];
      const long = Array.from(
        { length: count - special.length },
        (_, at) => `${'0123456789abcdef'.repeat(at % 9)}-${at}`,
      );
      file = await writeReport([...special, ...long], [8, 9, 10, 11]);
    });

    it.each(['light', 'dark'] as const)('overflows nothing and cuts no name, in %s', async (colorScheme) => {
      const page = await browser().newPage({ viewport: { width, height: 800 }, colorScheme });
      await page.goto(pathToFileURL(file).href);
      const widths = () => page.evaluate('[document.documentElement.scrollWidth, document.body.scrollWidth]');
      expect(await widths()).toEqual([width, width]);
      // Everything that opens is open.
      const summaries = await page.locator('summary').all();
      expect(summaries.length).toBeGreaterThanOrEqual(4);
      for (const summary of summaries) await summary.click();
      await page.locator('#body .cell').nth(1).click();
      expect(await page.locator('#chosen').isVisible()).toBe(true);
      expect(await widths()).toEqual([width, width]);
      const wider = await page.evaluate(`[...document.querySelectorAll('.label, .entry, .card, code, summary, #chosen')]
        .filter((shown) => shown.scrollWidth > shown.clientWidth + 1 && getComputedStyle(shown).display !== 'inline')
        .map((shown) => shown.className + ': ' + shown.textContent)`);
      expect(wider).toEqual([]);
      const cut = await page.evaluate(`[...document.querySelectorAll('#body .label')]
        .filter((label) => label.firstElementChild.getBoundingClientRect().bottom > label.getBoundingClientRect().bottom + 1)
        .map((label) => label.textContent)`);
      expect(cut).toEqual([]);
      await page.close();
    });
  });
});
