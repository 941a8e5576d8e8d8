import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runStart } from '../run-start';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-service-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function addCluster(uid: string, ...files: string[]): Promise<void> {
  await mkdir(join(folder, uid));
  for (const name of files) await writeFile(join(folder, uid, name), 'text');
}

describe('a folder to be served that cannot be', () => {
  it.each<[string, string]>([
    ['that is not there', 'ENOENT; expected a folder with a folder per cluster'],
    ['without a cluster', 'it has no cluster; expected folders <uid>/'],
  ])('is refused before anything is started: one %s', async (kind, reason) => {
    await addCluster('.git', 'log.txt', 'manifest.yaml');
    const served = kind === 'that is not there' ? join(folder, 'absent') : folder;
    const { code, err } = await runStart(['--serve', served]);
    expect(code).toBe(2);
    expect(err).toContain(`Serving ${served} failed: ${reason}`);
  });

  it('is refused with the files that are missing, not with advice about the configuration', async () => {
    await addCluster('whole', 'log.txt', 'manifest.json');
    for (let n = 10; n < 23; n += 1) await addCluster(`half-${n}`, 'log.txt');
    const { code, err } = await runStart(['--serve', folder]);
    expect(code).toBe(2);
    expect(err).toContain("each cluster's folder needs a log and a manifest");
    expect(err).toContain('half-10 has no manifest (manifest.yaml, manifest.yml, manifest.json, manifest.txt)');
    expect(err).toMatch(/half-19[\s\S]*and 3 more/);
    expect(err).not.toMatch(/half-20|whole has|projectUid/);
  });
});
