import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { main } from '../../../cli/main';
import { Progress } from '../../../cli/terminal/progress';
import { ArchiveFixture } from '../archive-fixture';
import { keptTerminal } from '../run-collector';

describe('progress', () => {
  it('is a line every ten seconds in a pipe, and says what happens at that moment', () => {
    jest.useFakeTimers();
    const terminal = keptTerminal();
    const progress = new Progress(terminal, 'Archiving', { now: 'attempt 1 of 3' });
    jest.advanceTimersByTime(10_000);
    progress.update({ done: 78, total: 80, now: 'attempt 2 of 3' });
    jest.advanceTimersByTime(19_999);
    progress.stop();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
    expect(terminal.err.text.split('\n')).toEqual([
      'Archiving: attempt 1 of 3',
      'Archiving: 78 of 80, attempt 2 of 3',
      '',
    ]);
  });

  it('is one line with a bar on a terminal', () => {
    const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 100, cursorTo() {}, clearLine() {} });
    const progress = new Progress({ err: screen, isWatched: true }, 'Archiving', { now: 'attempt 1 of 3', total: 4 });
    progress.update({ done: 2, now: 'attempt 2 of 3' });
    progress.stop();
    expect(String(screen.read())).toMatch(/Archiving: █{15}░{15} 2 of 4, attempt 2 of 3/);
  });

  it('is shown by grep and export', async () => {
    const archive = await ArchiveFixture.ofLogs(Array.from({ length: 60 }, (_, at) => `line ${at}\n`));
    const shownBy = async (...args: string[]) => {
      const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 100, cursorTo() {}, clearLine() {} });
      await main([...args, '--archive', archive.folder], { ...keptTerminal(), err: screen, isWatched: true });
      return String(screen.read());
    };
    expect(await shownBy('grep', 'line', '--snapshots', '--last', '60')).toContain('Searching: 50 logs of 50 runs');
    const out = join(archive.folder, '..', `exported-${process.pid}`);
    expect(await shownBy('export', '--cluster', 'a', '--out', out)).toContain('Exporting: copying the records');
  });
});
