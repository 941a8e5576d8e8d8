import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Describes what needs a browser, which is started once; it is skipped where there is no Chromium. */
export function describeInBrowser(name: string, tests: (browser: () => Browser) => void): void {
  const isThere = existsSync(executablePath);
  (isThere ? describe : describe.skip)(isThere ? name : `${name} (skipped: no ${executablePath})`, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath, args: [...flags, ...quiet] });
    });
    afterAll(() => browser?.close());
    tests(() => browser);
  });
}
