import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refusedAddress } from '../../support/fault-service-refusal';
import { runStart, writeStartConfig } from '../run-start';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'service-down-'));
});
afterEach(() => rm(root, { recursive: true }));

const clusters = ['one', 'two', 'three', 'four'];

describe('npm start', () => {
  // Both at once: they wait for a service that does not answer.
  it('leaves out the last attempt, of each shard too, while the service is down, and tells how to complete the run', async () => {
    const refused = await refusedAddress();
    const config = await writeStartConfig(root, { clusters, service: { baseUrl: refused.url } });
    const leavesOut = async (name: string, more: string[], records: number) => {
      const args = ['--config', config, '--folder', join(root, name), ...more];
      const { code, out } = await runStart(args, { COLLECTOR_API_KEY: 'the-key-of-nobody' });
      expect(code).toBe(1);
      expect(out).toContain('Ended early: the service looks down: no usable answer for ');
      expect(out).toContain(`after ${records} attempts`);
      const quoted = args.map((arg) => (arg.includes("'") ? `'${arg.replace("'", "'\\''")}'` : arg)).join(' ');
      expect(out).toMatch(
        /Left out: the last attempt, which in Lambda asks until the service answers, for up to 14 minutes/,
      );
      expect(out).toContain(`  npm start -- ${quoted} --run 20`);
    };
    await Promise.all([
      leavesOut("an archive's folder", [], 2),
      leavesOut("a sharded archive's folder", ['--shards', '2'], 4),
    ]);
    await refused.release();
  });

  it('completes the run that --run names', async () => {
    const config = await writeStartConfig(root, { clusters });
    const args = ['--config', config, '--folder', join(root, 'archive'), '--json'];
    const first = JSON.parse((await runStart([...args, '--fail', 'two=not-found'])).out);
    expect(first).toMatchObject({ status: 'incomplete', counts: { archived: 6, failed: 2 } });
    const { code, out } = await runStart([...args, '--run', first.run]);
    expect(JSON.parse(out)).toMatchObject({ run: first.run, status: 'complete', counts: { archived: 8, failed: 0 } });
    expect(code).toBe(0);
  });

  it('refuses a --run that is no time', async () => {
    const { code, err } = await runStart(['--run', 'yesterday']);
    expect(err).toMatch(/expected the time of one run, as `runs` prints it \(2026-11-20T10:00:00Z\)/);
    expect(code).toBe(2);
  });
});
