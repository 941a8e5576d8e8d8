import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Why there are no browser tests on this machine; undefined where there are. */
export const noBrowser = existsSync(executablePath) ? undefined : `there is no Chromium at ${executablePath}`;

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: [...flags, ...quiet] });
}
