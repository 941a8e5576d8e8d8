import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Resource } from '../../../lambda/resources';
import { demoLog, demoManifest } from '../../../local/demo-service/demo-content';
import { type Answer, ArchiveFixture, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';
import { describeInBrowser } from './browser';

/** The picture in the README, retaken by `REPORT_PICTURE=docs/report.png npm run test:soak -- picture`. */
const asked = process.env.REPORT_PICTURE;
const projectRoot = process.cwd();

const largestBytes = 200 * 1000;
const hours = 40;
const clusters = [
  ...['dev-1', 'dev-2', 'edge-hamburg-3', 'edge-lyon-1', 'edge-oslo-2'],
  ...['prod-ap-1', 'prod-eu-1', 'prod-us-1', 'prod-us-2', 'staging-1', 'staging-2'],
];

/** When the page is written and read. */
const now = new Date('2026-11-20T07:20:00Z');
const timeOf = (hour: number) => new Date(Date.UTC(2026, 10, 18, 16 + hour));

function failureAt(hour: number, cluster: string, resource: Resource): Answer | undefined {
  const call = `GET ${resource === 'log' ? 'features/logFetcher' : 'assets/manifest'} of cluster ${cluster}`;
  if (cluster === 'edge-oslo-2' && hour >= 33)
    return { failed: `${call} failed: no answer (ECONNREFUSED); gave up after 5 requests`, httpStatus: 'no answer' };
  if (cluster === 'prod-us-2' && hour >= 12 && hour < 15)
    return { failed: `${call} failed: 503 Service Unavailable; gave up after 5 requests` };
  if (cluster === 'staging-2' && hour === 24 && resource === 'manifest')
    return {
      failed: `${call} answered 200 OK, but the manifest is an HTML page: its media type is text/html`,
      httpStatus: 200,
    };
  return undefined;
}

function answerAt(hour: number, cluster: string, resource: Resource): Answer {
  const failure = failureAt(hour, cluster, resource);
  if (failure !== undefined) return failure;
  if (hour === 20 && cluster.startsWith('dev'))
    return { notAttempted: "the function's time limit is near; the next attempt completes the run" };
  if (resource === 'log') return { content: logRecord(cluster, demoLog(cluster, timeOf(hour))) };
  // A manifest changes twice a day, each cluster's at an hour of its own.
  const offset = clusters.indexOf(cluster) * 5;
  return { content: demoManifest(cluster, timeOf(Math.floor((hour + offset) / 12) * 12 - offset)) };
}

describeInBrowser('a picture of the report', (browser) => {
  afterAll(() => process.chdir(projectRoot));

  it(`is small enough for the README${asked === undefined ? '' : `, and is written to ${asked}`}`, async () => {
    const archive = await ArchiveFixture.create();
    for (let hour = 0; hour < hours; hour += 1) {
      const answer = (cluster: string, resource: Resource) => answerAt(hour, cluster, resource);
      await archive.attempt({ run: timeOf(hour), clusters, answer });
    }
    // The page names the archive as the command does: the picture must not show a folder of this machine.
    const folder = await mkdtemp(join(tmpdir(), 'collector-report-'));
    await rename(archive.folder, join(folder, 'local-archive'));
    process.chdir(folder);
    const report = ['report', '--archive', 'local-archive', '--out', 'report.html'];
    expect((await runCollector(report, { now })).code).toBe(0);
    const page = await browser().newPage({ viewport: { width: 1280, height: 880 }, colorScheme: 'light' });
    await page.clock.setFixedTime(now);
    await page.goto(pathToFileURL(join(folder, 'report.html')).href);
    const picture = await page.screenshot();
    expect(picture.length).toBeLessThan(largestBytes);
    if (asked !== undefined) await writeFile(join(projectRoot, asked), picture);
  });
});
