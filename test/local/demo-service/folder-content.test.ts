import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderContent } from '../../../local/demo-service/folder-content';
import { type DemoService, manifestFormOf, startDemoService } from '../../../local/demo-service/start-demo-service';

const log = Buffer.from('\ufefffirst\r\nsecond\tü 漢 🙂 "quoted" \\ \u0000\u001b[0m\u2028\r\n'.repeat(9000));
const manifest = Buffer.from('---\r\nkind: Cluster # é\n'.repeat(9000));
const apiKey = 'k';
/** Clusters whose manifests are sent as text and as a JSON string. */
const [ofText = '', ofJson = ''] = (['text', 'json'] as const).map((form) =>
  ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].find((uid) => manifestFormOf(uid) === form),
);
let base: string;
let dir: string;
let service: DemoService | undefined;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'folder-content-'));
  dir = join(base, 'served');
  await addCluster('edge 1', { 'log.txt': log, 'manifest.yaml': manifest });
});

afterEach(async () => {
  await service?.close();
  service = undefined;
  await rm(base, { recursive: true });
});

async function addCluster(uid: string, files: Record<string, Buffer | string>): Promise<void> {
  await mkdir(join(dir, uid), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, uid, name), content);
}

async function ask(path: string): Promise<Response> {
  await service?.close();
  service = await startDemoService({ apiKey, source: folderContent(dir) });
  return fetch(service.url + path, { headers: { ApiKey: apiKey } });
}

const logOf = (uid: string) => `/v1/platformclusters/${encodeURIComponent(uid)}/features/logFetcher`;
const manifestOf = (uid: string) => `/v1/platformclusters/${encodeURIComponent(uid)}/assets/manifest`;

describe('a served folder', () => {
  it('the clusters are the folders, without those whose name begins with a dot', async () => {
    await writeFile(join(dir, 'README.md'), 'not a cluster');
    await addCluster('another', {});
    await addCluster('.git', { 'log.txt': log });
    expect(await folderContent(dir).clusterUids()).toEqual(['another', 'edge 1']);
    expect((await ask(logOf('.git'))).status).toBe(404);
  });

  it('it says what the clusters lack', async () => {
    await addCluster('bare', {});
    await addCluster('half', { 'log.txt': log });
    const missing = await folderContent(dir).missing();
    expect(missing.filter((line) => /no (log|manifest) /.test(line))).toEqual([
      'bare has no log (log.txt)',
      'bare has no manifest (manifest.yaml, manifest.yml, manifest.json, manifest.txt)',
      'half has no manifest (manifest.yaml, manifest.yml, manifest.json, manifest.txt)',
    ]);
  });

  it('a log comes back byte for byte through the JSON of its record', async () => {
    const modified = new Date('2026-11-19T08:07:06.000Z');
    await utimes(join(dir, 'edge 1', 'log.txt'), modified, modified);
    const record = (await (await ask(logOf('edge 1'))).json()) as { spec: { log: string } };
    expect(Buffer.from(record.spec.log).equals(log)).toBe(true);
    expect(record).toMatchObject({
      metadata: { lastModifiedTimestamp: '2026-11-19T08:07:06.000Z' },
      spec: { clusterUid: 'edge 1' },
    });
  });

  it('a manifest comes back byte for byte, as text and as a JSON string', async () => {
    for (const uid of [ofText, ofJson]) await addCluster(uid, { 'manifest.yaml': manifest });
    const plain = Buffer.from(await (await ask(manifestOf(ofText))).arrayBuffer());
    expect(plain.equals(manifest)).toBe(true);
    const decoded = (await (await ask(manifestOf(ofJson))).json()) as string;
    expect(Buffer.from(decoded).equals(manifest)).toBe(true);
  });

  it('nothing outside the folder can be reached by any uid', async () => {
    await writeFile(join(base, 'log.txt'), 'secret');
    await writeFile(join(dir, 'log.txt'), 'secret');
    await mkdir(join(base, 'outside'));
    await writeFile(join(base, 'outside', 'log.txt'), 'secret');
    await symlink(join(base, 'outside'), join(dir, 'link'));
    const source = folderContent(dir);
    const found: unknown[] = [];
    const outside = ['..', '.', '', '../outside', 'edge 1/../../outside', join(base, 'outside'), '..\\outside', 'link'];
    for (const uid of outside) {
      found.push(await source.log(uid));
      if (uid !== '') expect((await ask(logOf(uid).replaceAll('.', '%2e'))).status).toBe(404);
    }
    expect(found).toEqual(found.map(() => undefined));
  });
});
