import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { objectKey } from '../../../archive/format/keys';
import type { Resource } from '../../../archive/format/resources';
import { startCommand } from '../../../cli/start/start-command';
import { WatchedRun } from '../../../cli/start/watched-run';
import { startDemoService } from '../../../local/demo-service/start-demo-service';
import { newFolder } from '../../support/new-folder';
import { keptTerminal } from '../run-collector';
import { runStart, writeStartConfig } from '../run-start';

const environment = { COLLECTOR_API_KEY: 'the-key' };

describe('a start that ends before its time', () => {
  const root = newFolder();

  /** Starts a run of two clusters; `onSecond` is called when the second manifest is asked for: a cluster's resources are asked together. */
  async function startUntil(onSecond: () => void, interrupted: AbortSignal) {
    const asked = new Set<string>();
    const service = await startDemoService({
      apiKey: 'the-key',
      onRequest: (path) => {
        if (path.includes('/manifest') && asked.add(path).size === 2) onSecond();
      },
    });
    const members = { service: { baseUrl: service.url }, limits: { concurrency: 1 } };
    const args = ['--config', await writeStartConfig(root, members), '--folder', join(root, 'archive')];
    const terminal = keptTerminal();
    const code = await startCommand(args, { terminal, environment, interrupted });
    return { service, code, message: terminal.err.text };
  }

  it('says which run it was, what stays, and the command that completes it, which does', async () => {
    const interruption = new AbortController();
    const interrupt = () => interruption.abort(new Error('interrupted by SIGINT'));
    const { service, code, message } = await startUntil(interrupt, interruption.signal);
    expect(code).toBe(130);
    expect(message).toMatch(
      /^Run 20\S+Z was interrupted\. What it has archived stays: \d objects?\. Complete it with\n/,
    );
    const [, command = ''] = message.split('\n');
    expect(command).toMatch(/^ {2}npm start -- --config .* --run 20\S+Z --without-record$/);
    const completed = await runStart(command.trim().split(' ').slice(3), environment);
    await service.close();
    const run = /--run (\S+)/.exec(command)?.[1]?.replace('.000', '') ?? '';
    expect(completed.out).toContain(`run ${run}`);
    expect(completed.out).toMatch(/: complete after 1 attempt, worked .*; 4 of 4 archived/);
  });

  it('says of the audit that it was interrupted, and of the run that it was over', async () => {
    const interruption = new AbortController();
    const terminal = keptTerminal();
    const folder = join(root, 'audited');
    const isAudit = (chunk: Buffer) => chunk.includes('The schedule of the audit was fired');
    const out = new Writable({
      write: (chunk, _encoding, done) => {
        if (isAudit(chunk)) interruption.abort(new Error('interrupted by SIGINT'));
        done();
      },
    });
    const args = ['--config', await writeStartConfig(root), '--folder', folder, '--audit'];
    const code = await startCommand(args, {
      terminal: { ...terminal, out },
      environment,
      interrupted: interruption.signal,
    });
    expect(terminal.err.text).toMatch(
      /^The audit was interrupted\. Run 20\S+Z was over, and what it has archived stays\. Whether a seal was stored says\n {2}npm run collector -- verify --seals --archive \S+\n$/,
    );
    expect(code).toBe(130);
  });

  it('ends with 3, in sentences, when the archive takes no more, and retries nothing', async () => {
    const incoming = join(root, 'archive', '.metadata-incoming');
    const spoil = () => {
      rmSync(incoming, { recursive: true });
      writeFileSync(incoming, '');
    };
    const { service, code, message } = await startUntil(spoil, new AbortController().signal);
    await service.close();
    expect(code).toBe(3);
    const [error, run, command] = message.split('\n');
    expect(error).toMatch(/^error: Writing to \S+\.metadata-incoming\S* failed: E(EXIST|NOTDIR): /);
    expect(run).toMatch(/^Run 20\S+Z was interrupted\. What it has archived stays: \d objects?\. Complete it with$/);
    expect(command).toMatch(/ --without-record$/);
    // Before anything is started, too.
    const args = ['--config', join(root, 'my.json'), '--folder', join(root, 'archive')];
    const again = await runStart(args, environment);
    expect(again.code).toBe(2);
    expect(again.err).toMatch(
      /^error: Writing to the folder \S+ failed: E(EXIST|NOTDIR); name another with --folder\.\n$/,
    );
  });
});

describe('the progress of a start', () => {
  it('says at which attempt it is, and names nothing whose end cannot be seen', () => {
    jest.useFakeTimers();
    const tick = () => jest.advanceTimersByTime(10_000);
    const terminal = keptTerminal();
    const progress = new WatchedRun(terminal, { objects: 80, awaited: [], isRetried: true, shards: 1 });
    const line = (message: string, more?: object) => JSON.stringify({ level: 'WARN', message, ...more });
    const counts = { archived: 1, alreadyArchived: 0, failed: 79, notAttempted: 0 };
    const summary = { run: '2026-11-20T10:00:00.000Z', status: 'incomplete', dryRun: false, counts, durationMs: 1 };
    progress.request({ service: 's3', action: 'PutObject', method: 'PUT', headers: {}, status: 200, key: 'runs/x' });
    const key = 'logs/cluster=a/date=2026-11-20/20261120T100000.000Z.json.gz';
    progress.request({ service: 's3', action: 'PutObject', method: 'PUT', headers: {}, status: 200, key });
    tick();
    progress.line('a line that is not JSON');
    progress.line(line('asked again', { cluster: 'a', resource: 'manifest', requests: 2 }));
    progress.line(line('run finished', summary));
    tick();
    progress.stop();
    jest.useRealTimers();
    expect(terminal.err.text.split('\n')).toEqual([
      'Archiving: 1 of 80, attempt 1 of 3',
      'Archiving: 1 of 80, attempt 2 of 3',
      '',
    ]);
  });

  it('counts in a dry run what would be archived, and nothing of it as archived', () => {
    jest.useFakeTimers();
    const terminal = keptTerminal();
    const tasks = (['log', 'manifest'] as const).map((resource) => ({ cluster: 'alpha', resource }));
    const progress = new WatchedRun(terminal, { objects: 2, awaited: tasks, isRetried: false, shards: 1, isDry: true });
    progress.line(JSON.stringify({ message: 'would archive', ...tasks[0], outcome: 'would-archive', bytes: 5 }));
    jest.advanceTimersByTime(10_000);
    progress.stop();
    jest.useRealTimers();
    expect(terminal.err.text).toBe('Dry run: 1 of 2, attempt 1 of 1; waiting for alpha: manifest\n');
    expect([progress.archived, progress.logged]).toEqual([0, [expect.objectContaining({ bytes: 5 })]]);
  });

  it('names what a run waits for when little of it is left, again in each attempt', () => {
    jest.useFakeTimers();
    const tick = () => jest.advanceTimersByTime(10_000);
    const terminal = keptTerminal();
    const tasks = ['alpha', 'beta', 'gamma'].flatMap((cluster) =>
      (['log', 'manifest'] as const).map((resource) => ({ cluster, resource })),
    );
    const progress = new WatchedRun(terminal, { objects: 6, awaited: tasks, isRetried: true, shards: 1 });
    const store = (resource: Resource, cluster: string) =>
      progress.request({
        ...({ service: 's3', action: 'PutObject', method: 'PUT', headers: {}, status: 200 } as const),
        key: objectKey({ resource, cluster, run: new Date('2026-11-20T10:00:00Z') }),
      });
    const line = (message: string, more: object) => progress.line(JSON.stringify({ message, ...more }));
    tick();
    store('log', 'gamma');
    store('manifest', 'gamma');
    tick();
    store('manifest', 'alpha');
    store('log', 'beta');
    tick();
    line('asked again', { cluster: 'alpha', resource: 'log', requests: 2 });
    tick();
    line('not archived', { cluster: 'beta', resource: 'manifest', outcome: 'failed', error: 'no answer' });
    tick();
    line('not archived', { cluster: 'alpha', resource: 'log', outcome: 'failed', error: 'no answer' });
    const counts = { archived: 4, alreadyArchived: 0, failed: 2, notAttempted: 0 };
    line('run finished', {
      run: '2026-11-20T10:00:00.000Z',
      status: 'incomplete',
      dryRun: false,
      counts,
      durationMs: 1,
    });
    store('manifest', 'beta');
    tick();
    progress.stop();
    jest.useRealTimers();
    expect(terminal.err.text.split('\n')).toEqual([
      'Archiving: 0 of 6, attempt 1 of 3',
      'Archiving: 2 of 6, attempt 1 of 3; waiting for alpha: log; alpha: manifest; beta: log; beta: manifest',
      'Archiving: 4 of 6, attempt 1 of 3; waiting for alpha: log; beta: manifest',
      'Archiving: 4 of 6, attempt 1 of 3; waiting for alpha: log, request 2 of 5; beta: manifest',
      'Archiving: 4 of 6, attempt 1 of 3; waiting for alpha: log, request 2 of 5',
      'Archiving: 5 of 6, attempt 2 of 3; waiting for alpha: log',
      '',
    ]);
  });
});
