import cliProgress from 'cli-progress';
import type { Terminal } from './terminal';

/** What is known of the work now. */
export interface ProgressState {
  /** What happens now, such as `attempt 2 of 3`. */
  readonly now: string;
  /** May be a fraction, which only the bar shows. */
  readonly done?: number;
  /** Left out: not known yet. */
  readonly total?: number;
}

/** Calls a function again and again until the returned function is called. */
export type Ticker = (tick: () => void) => () => void;

/** Milliseconds between two lines in a pipe. */
const lineEveryMs = 10_000;

const everyTenSeconds: Ticker = (tick) => {
  const timer = setInterval(tick, lineEveryMs);
  return () => clearInterval(timer);
};

/** Shows on standard error how far the work is: one changing line on a terminal, a line every ten seconds elsewhere. */
export class Progress {
  readonly #title: string;
  readonly #stopTicker: () => void;
  readonly #bar: cliProgress.SingleBar | undefined;
  #state: ProgressState;

  /** @param ticker when a line is due that goes into a pipe */
  constructor(
    { err, isWatched }: Pick<Terminal, 'err' | 'isWatched'>,
    title: string,
    state: ProgressState,
    ticker: Ticker = everyTenSeconds,
  ) {
    this.#title = title;
    this.#state = state;
    if (isWatched) {
      const stream = err as NodeJS.WriteStream;
      const format: cliProgress.GenericFormatter = (options, { progress }) => this.#line(barText(options, progress));
      this.#bar = new cliProgress.SingleBar({ stream, format, clearOnComplete: true, hideCursor: true }, preset);
      this.#bar.start(state.total ?? 0, state.done ?? 0);
      this.#stopTicker = () => this.#bar?.stop();
    } else {
      this.#stopTicker = ticker(() => err.write(`${this.#line('')}\n`));
    }
  }

  update(change: Partial<ProgressState>): void {
    this.#state = { ...this.#state, ...change };
    this.#bar?.setTotal(this.#state.total ?? 0);
    this.#bar?.update(this.#state.done ?? 0);
  }

  /** Takes the line away. */
  stop(): void {
    this.#stopTicker();
  }

  #line(bar: string): string {
    const { now, done = 0, total } = this.#state;
    return total === undefined
      ? `${this.#title}: ${now}`
      : `${this.#title}: ${bar}${Math.floor(done)} of ${total}, ${now}`;
  }
}

const preset = cliProgress.Presets.shades_classic;

const barCharacters = 30;

function barText({ barCompleteChar = '#', barIncompleteChar = '-' }: cliProgress.Options, progress: number): string {
  const done = Math.round(Math.min(1, Math.max(0, progress || 0)) * barCharacters);
  return `${barCompleteChar.repeat(done)}${barIncompleteChar.repeat(barCharacters - done)} `;
}
