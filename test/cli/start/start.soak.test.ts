import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { newFolder } from '../../support/new-folder';
import { Program } from '../../support/program';
import { canMountDisks, withSmallDisk } from '../../support/small-disk';
import { runStart } from '../run-start';

describe('npm start as a process', () => {
  let root: string;
  let folder: string;

  beforeEach(() => {
    root = newFolder();
    folder = join(root, 'archive');
  });

  const hasRun = () =>
    existsSync(folder) && readdirSync(folder, { recursive: true }).join().includes('.attempt-1.jsonl');

  it('a reader that has seen enough ends no run', async () => {
    const program = new Program('cli/start/start.ts', ['--folder', folder]);
    await once(createInterface({ input: program.stdout }), 'line');
    program.stdout.destroy();
    await program.end();
    expect(hasRun()).toBe(true);
  });

  // Of the systems that tests run on, Linux alone has a device that is always full.
  (existsSync('/dev/full') ? it : it.skip).each([
    ['output', [], 1, ['error: Writing to standard output failed: the disk is full (ENOSPC); make room', '']],
    ['error', ['--unknown'], 2, ['']],
  ] as const)('ends with 3 if the disk behind standard %s is full; a run goes on', async (name, args, fd, told) => {
    const full = openSync('/dev/full', 'w');
    const program = new Program('cli/start/start.ts', ['--folder', folder, ...args], {
      [fd === 1 ? 'stdout' : 'stderr']: full,
    });
    const written = fd === 1 ? '' : text(program.stdout);
    const said = await program.end(3);
    closeSync(full);
    expect((fd === 1 ? said : await written).split('\n')).toEqual(told);
    expect(hasRun()).toBe(name === 'output');
  });

  (canMountDisks() ? it : it.skip)('ends with 3, in a sentence, if the disk of the archive is full', () =>
    withSmallDisk(root, 40, async () => {
      const { code, err } = await runStart(['--folder', folder]);
      expect(code).toBe(3);
      const [error] = err.split('\n').filter((line) => !line.startsWith('Archiving: '));
      expect(error).toMatch(/^error: Writing to .* failed: the disk is full \(ENOSPC\); make room$/);
      expect(err).not.toMatch(/^ {4}at /m);
    }),
  );

  // Other systems have no /proc to find the processes in.
  const onLinux = process.platform === 'linux' ? it : it.skip;

  onLinux('an interrupted start leaves no process and no temporary file behind', async () => {
    const temporary = join(root, 'tmp');
    await mkdir(temporary);
    // A cluster that fails however often it is asked keeps the function busy until it is interrupted.
    const program = new Program('cli/start/start.ts', ['--folder', folder, '--fail', 'prod-eu-1=server-error'], {
      environment: { ...process.env, TMPDIR: temporary },
      isDetached: true,
    });
    await once(createInterface({ input: program.stdout }), 'line');
    const pids = await functionProcesses(temporary);
    expect(pids).not.toEqual([]);
    // As Ctrl-C does: the signal reaches the whole group.
    process.kill(-(program.child.pid ?? 0), 'SIGINT');
    await program.end(130);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    // The loader of TypeScript keeps its caches there, from Node 22 on with Node's own.
    const caches = /^(tsx-\d+|node-compile-cache)$/;
    expect((await readdir(temporary)).filter((name) => !caches.test(name))).toEqual([]);
  });

  /** Waits for the function's processes, which work in a folder of this one's. */
  async function functionProcesses(temporary: string): Promise<number[]> {
    for (;;) {
      const found: number[] = [];
      for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
        const environment = await readFile(join('/proc', pid, 'environ'), 'utf8').catch(() => '');
        if (environment.includes(`${temporary}/local-function-`)) found.push(Number(pid));
      }
      if (found.length > 0) return found;
      await setTimeout(50);
    }
  }
});
