import type { Find } from '../../archive/format/finding';
import {
  parseConfigurationKey,
  parseObjectKey,
  parseRunRecordKey,
  parseStamp,
  runPrefix,
  runsPrefix,
  sealsPrefix,
} from '../../archive/format/keys';
import type { OpenFinding } from '../../archive/format/seal-state';
import type { Judged, JudgedRun, World } from '../../archive/prove/attest';
import { firstOf } from '../../archive/read';
import type { Work } from './agenda';
import { inTime } from './audit-world';
import type { Rechecked } from './findings';
import type { Observer } from './walk';

/** Open findings that one audit checks. */
const mostChecked = 1000;

/** Sees whether what is open was repaired. What is still wrong is found as if it were new. */
export class OpenChecks implements Observer {
  /** What was judged. */
  readonly checked = new Map<OpenFinding, Rechecked>();
  /** What is to be judged, by the time of its run: the one whose last judgement is oldest first. */
  readonly runs = new Map<number, OpenFinding[]>();
  readonly #others: OpenFinding[] = [];
  readonly #world: World;
  /** The run of the slice that is being judged. */
  #last: JudgedRun | undefined;

  constructor(open: readonly OpenFinding[], world: World) {
    this.#world = world;
    let left = mostChecked;
    for (const one of open) {
      const run = runOf(one.key)?.getTime();
      // Every audit reads all seals, and lists all keys under runs/.
      const isListed = run === undefined && [runsPrefix, sealsPrefix].some((prefix) => one.key.startsWith(prefix));
      if (isListed) this.checked.set(one, 'repaired');
      if (isListed || left === 0) continue;
      left -= 1;
      if (run === undefined) this.#others.push(one);
      else this.runs.set(run, [...(this.runs.get(run) ?? []), one]);
    }
  }

  /** Looks at what is open and not of a run, as far as there is time. @throws ArchiveReadError */
  async lookBeside(stop: AbortSignal, find: Find): Promise<void> {
    const { configurations, reader } = this.#world;
    for (const one of this.#others) {
      const { key, problem } = one;
      const configuration = parseConfigurationKey(key);
      const rechecked = await inTime(stop, async (): Promise<Rechecked> => {
        stop.throwIfAborted();
        if (configuration !== undefined) {
          const found = await configurations.get(configuration);
          const isRead = !configurations.unread.has(configuration) && found?.scheduleProblem === undefined;
          return isRead ? 'repaired' : 'unread';
        }
        // A key that an archive does not use.
        const prefix = key.replace(/\*$/, '');
        const found = await firstOf(reader.list(prefix));
        if (found !== undefined && (found.key === key || prefix !== key))
          find('unrecorded', key, found.damage ?? problem);
        return 'repaired';
      });
      if (rechecked !== undefined) this.checked.set(one, rechecked);
    }
  }

  take(judged: Judged): void {
    if ('run' in judged) this.#last = judged.run;
  }

  async judged({ what, from }: Work): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    if (what !== 'open' || from === null) return;
    const run = new Date(from);
    for (const one of this.runs.get(run.getTime()) ?? []) {
      // What does not lie there any more is not unrecorded, whatever the records say.
      const gone = { key: one.key, writtenAt: run };
      const isGone =
        one.kind === 'unrecorded' || (last === undefined && (await this.#world.expiry.mayHaveRemoved(gone)));
      const rechecked = last?.isUnread ? 'unread' : last?.isWhole ? 'repaired' : 'unvouched';
      this.checked.set(one, isGone ? 'repaired' : rechecked);
    }
  }
}

/** The run that a finding is of: of its records, all or one, or of an object. */
function runOf(key: string): Date | undefined {
  const all = parseStamp(/\/([^/]+)\.\*$/.exec(key)?.[1] ?? '');
  if (all !== undefined) return `${runPrefix(all)}*` === key ? all : undefined;
  return (parseObjectKey(key) ?? parseRunRecordKey(key))?.run;
}
