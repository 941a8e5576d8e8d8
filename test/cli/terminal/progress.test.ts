import { PassThrough } from 'node:stream';
import { Progress } from '../../../cli/terminal/progress';
import { keptTerminal } from '../run-collector';

describe('progress', () => {
  it('is a line every ten seconds in a pipe, and says what happens at that moment', () => {
    const terminal = keptTerminal();
    let tick = () => {};
    let isStopped = false;
    const progress = new Progress(terminal, 'Archiving', { now: 'attempt 1 of 3' }, (due) => {
      tick = due;
      return () => {
        isStopped = true;
      };
    });
    expect(terminal.err.text).toBe('');
    tick();
    progress.update({ done: 78, total: 80, now: 'attempt 2 of 3' });
    tick();
    progress.stop();
    expect(terminal.err.text.split('\n')).toEqual([
      'Archiving: attempt 1 of 3',
      'Archiving: 78 of 80, attempt 2 of 3',
      '',
    ]);
    expect(isStopped).toBe(true);
    expect(terminal.out.text).toBe('');
  });

  it('is one line with a bar on a terminal', () => {
    const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 100, cursorTo() {}, clearLine() {} });
    const progress = new Progress({ err: screen, isWatched: true }, 'Archiving', { now: 'attempt 1 of 3', total: 4 });
    progress.update({ done: 2, now: 'attempt 2 of 3' });
    progress.stop();
    expect(String(screen.read())).toMatch(/Archiving: █{15}░{15} 2 of 4, attempt 2 of 3/);
  });
});
