import { PassThrough } from 'node:stream';
import { Progress } from '../../../cli/terminal/progress';
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
});
