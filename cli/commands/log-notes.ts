import type { Seam } from '../../archive/read';
import { isMissing, type JoinedRun, type LinkedLog } from '../archive/join-logs';
import { formatTime } from '../terminal/format';

/** What a reader of the joined log has to know of its runs. What is so in each log is said where it begins and where it ends. */
export class LogNotes {
  #without = '';
  #isNewestFirst = false;

  /** Of the next run. */
  of(joined: JoinedRun): readonly string[] {
    if (isMissing(joined)) return [joined.reason];
    const { link, problem } = joined;
    if (problem !== undefined) return [`no text: ${problem}`];
    const ofSeam = noteOf(joined);
    return [...(ofSeam === undefined ? [] : [ofSeam]), ...(link.base === undefined ? [] : this.#changes(joined))];
  }

  #changes({ link: { seam } }: LinkedLog): string[] {
    const { kind, isTurned, isNewestFirst, lineEnds } = seam;
    const notes: string[] = [];
    if (lineEnds !== undefined)
      notes.push(`line ends: they turned into ${lineEnds}; lines are compared without their line ends`);
    // What is stale, or shares nothing, shows nothing of how the log is now.
    if (kind !== 'continues' && kind !== 'unchanged') return notes;
    const without = seam.without.join(' and ');
    // A text that is the same is compared with all its lines.
    if (kind === 'unchanged' && without === '') return notes;
    if (isTurned || isNewestFirst !== this.#isNewestFirst) {
      const order = `${isNewestFirst ? 'newest' : 'oldest'} first, and so are the new lines of each run`;
      notes.push(`order: ${isTurned ? 'the log turned: it is' : 'the log is'} ${order}`);
    }
    this.#isNewestFirst = isNewestFirst;
    // One that turned is compared without them in any case.
    if (isTurned || without === this.#without) return notes;
    notes.push(
      without === ''
        ? 'compared with all its lines again'
        : `compared without its ${without} line, which is another one in each log`,
    );
    this.#without = without;
    return notes;
  }
}

/** What there is to say of how a log follows those before it; undefined: nothing. */
function noteOf({ link }: LinkedLog): string | undefined {
  const { kind, above, added, isNewestFirst, without } = link.seam;
  const base = link.base === undefined ? '' : ` of the run ${formatTime(link.base)}`;
  const further = isNewestFirst ? added - countOf(without, 'last') : above - countOf(without, 'first');
  const are = further === 1 ? 'line of it is' : 'lines of it are';
  const reachesBack = `${further.toLocaleString('en-US')} ${are} older than what is before, and in no log before`;
  switch (kind) {
    case 'gap':
      return `gap: nothing of the end of the log${base} is in it: lines between may be lost, or the log was begun anew`;
    case 'older':
      return `older: the log ends before that${base} does, a stale answer; ${further <= 0 ? 'it adds nothing' : reachesBack}`;
    default:
      return further <= 0 || link.base === undefined ? undefined : `reaches back: ${reachesBack}`;
  }
}

/** Of a line of the moment nobody says that it is older. */
function countOf(without: Seam['without'], line: Seam['without'][number]): number {
  return without.includes(line) ? 1 : 0;
}
