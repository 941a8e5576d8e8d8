import cliProgress from 'cli-progress';
import { parseObjectKey } from '../../lambda/archive/archive-layout';
import type { LoggedRequest } from '../../local/aws/local-aws';
import type { Terminal } from '../terminal/terminal';

/** A bar that counts what is archived; it shows only where somebody watches. */
export class StartProgress {
  private readonly bar: cliProgress.SingleBar | undefined;

  constructor({ err, isWatched }: Terminal, total: number) {
    if (!isWatched) return;
    this.bar = new cliProgress.SingleBar(
      {
        stream: err as NodeJS.WriteStream,
        format: 'Archiving [{bar}] {value}/{total}',
        clearOnComplete: true,
        hideCursor: true,
      },
      cliProgress.Presets.shades_classic,
    );
    this.bar.start(total, 0);
  }

  /** Takes note of an answered call to the archive. */
  note({ action, key, status }: LoggedRequest): void {
    if (action === 'PutObject' && status === 200 && key !== undefined && parseObjectKey(key) !== undefined)
      this.bar?.increment();
  }

  stop(): void {
    this.bar?.stop();
  }
}
