import cliProgress from 'cli-progress';
import { formatBytes } from './format';
import { print, type Terminal } from './terminal';

/** What is known of the work now. */
export interface ProgressState {
  /** What happens now, such as `attempt 2 of 3`. */
  readonly now: string;
  /** May be a fraction, which only the bar shows. */
  readonly done?: number;
  /** Left out: not known yet. */
  readonly total?: number;
}

/** Milliseconds between two lines in a pipe. */
const lineEveryMs = 10_000;

/** Shows on standard error how far the work is: one changing line on a terminal, a line every ten seconds elsewhere. */
export class Progress {
  readonly #title: string;
  #bar: cliProgress.SingleBar | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #state: ProgressState;

  constructor({ err, isWatched }: Pick<Terminal, 'err' | 'isWatched'>, title: string, state: ProgressState) {
    this.#title = title;
    this.#state = state;
    if (isWatched) {
      const look = {
        stream: err as NodeJS.WriteStream,
        format: (options: cliProgress.Options, { progress }: cliProgress.Params) =>
          this.#line(`${cliProgress.Format.BarFormat(progress, options)} `),
        barsize: 30,
        clearOnComplete: true,
        hideCursor: true,
      };
      this.#bar = new cliProgress.SingleBar(look, cliProgress.Presets.shades_classic);
      this.#bar.start(state.total ?? 0, state.done ?? 0);
    } else {
      this.#timer = setInterval(() => err.write(`${this.#line('')}\n`), lineEveryMs);
    }
  }

  update(change: Partial<ProgressState>): void {
    this.#state = { ...this.#state, ...change };
    this.#bar?.setTotal(this.#state.total ?? 0);
    this.#bar?.update(this.#state.done ?? 0);
  }

  /** Takes the line away. Nothing that is updated later is shown. */
  stop(): void {
    clearInterval(this.#timer);
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #line(bar: string): string {
    const { now, done = 0, total } = this.#state;
    return total === undefined
      ? `${this.#title}: ${now}`
      : `${this.#title}: ${bar}${Math.floor(done)} of ${total}, ${now}`;
  }
}

/** Most bytes that are read without a word, as stored. */
const silentBytes = 200 * 1024 * 1024;

/** Says how much a command is going to read, if that is much. */
export async function printVolume({ err }: Pick<Terminal, 'err'>, bytes: number): Promise<void> {
  if (bytes > silentBytes) await print(err, `Reading up to ${formatBytes(bytes)}; --from, --to and --last bound it.\n`);
}
