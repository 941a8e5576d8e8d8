import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { objectKey, runRecordKey } from '../../../lambda/archive/archive-layout';
import { ArchiveFixture, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';

const run = new Date('2026-11-20T09:00:00Z');
const clusters = ['alpha', 'beta'];
const manifest = (cluster: string) => objectKey({ resource: 'manifest', cluster, run, compression: 'gzip' });
const record = runRecordKey({ run, attempt: 1 });

let archive: ArchiveFixture;

beforeEach(async () => {
  archive = await ArchiveFixture.create();
  await archive.attempt({
    run,
    clusters,
    answer: (cluster, resource) => ({ content: resource === 'log' ? logRecord(cluster, 'text') : 'kind: Namespace\n' }),
  });
});

async function verify() {
  const args = ['verify', '--archive', archive.folder, '--json'];
  const { code, out } = await runCollector(args, { now: new Date('2100-01-01T00:00:00Z') });
  const { sound, findings } = JSON.parse(out) as {
    sound: number;
    findings: { kind: string; key: string; problem: string }[];
  };
  return { code, sound, findings };
}

describe('a metadata file of the archive in a folder that was cut', () => {
  const cut = (key: string) => truncate(join(archive.folder, '.metadata', `${key}.json`), 20);

  it('is damage of its object, and keeps nothing else from being verified', async () => {
    await cut(manifest('alpha'));
    const problem = 'its metadata is absent or malformed';
    expect(await verify()).toEqual({
      code: 1,
      sound: 3,
      findings: [{ kind: 'damaged', key: manifest('alpha'), problem }],
    });
  });

  it('is damage of its run record', async () => {
    await cut(record);
    const { code, findings } = await verify();
    expect(code).toBe(1);
    expect(findings).toContainEqual({
      kind: 'damaged',
      key: record,
      problem: 'its metadata file in .metadata/ cannot be used: it is not JSON',
    });
    expect(findings.filter(({ kind }) => kind === 'unrecorded')).toHaveLength(4);
  });

  it('does not keep the other objects from being listed and shown', async () => {
    await cut(manifest('alpha'));
    const options = { now: new Date('2026-11-20T10:00:00Z') };
    const listed = await runCollector(['list', '--archive', archive.folder, '--json'], options);
    expect([listed.code, listed.err]).toEqual([0, '']);
    expect(listed.out).toContain('alpha');
    expect(listed.out).toContain('beta');
    const shown = await runCollector(['show', 'beta', '--archive', archive.folder], options);
    expect([shown.code, shown.out]).toEqual([0, 'kind: Namespace\n']);
  });
});
