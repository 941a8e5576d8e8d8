import { counted } from '../../archive/format/counted';
import { type Find, type Finding, isDamage, nameOf, staysOpen } from '../../archive/format/finding';
import { parseObjectKey } from '../../archive/format/keys';
import { problems } from '../../archive/format/problems';
import type { Seal } from '../../archive/format/seal';
import { largestStateBytes, type OpenFinding, type SealState, type Summary } from '../../archive/format/seal-state';
import type { SealChain } from '../../archive/prove/attest';

/** Longest description of a problem, in characters: it may quote what somebody wrote into the archive. */
const mostCharacters = 300;

/** Findings that a state names, and that are kept to be open in the next audit; all are counted. */
const mostFindings = 100;
const mostOpen = 50_000;

/** How long what is open may be in a state, in bytes: the rest of it has as much room. */
const mostOpenBytes = largestStateBytes / 2;

/** What was sealed and open before an audit. */
type KnownBefore = Pick<SealChain, 'records' | 'state'>;

/** What a seal and its state say of findings. */
type Settled = Pick<Seal, 'found'> & Pick<SealState, 'findings' | 'open'> & Pick<Summary, 'repaired'>;

/**
 * What is said of an open finding that is not found again: it was repaired; nothing that is right says any more what should
 * be there, which is the damage then; or it could not be read.
 */
export type Rechecked = 'repaired' | 'unvouched' | 'unread';

/**
 * What an audit finds. With what was open before it makes what is open after it: all that was found, and all that was open
 * and was not seen to be repaired.
 */
export class Findings {
  readonly #found = new Map<string, Finding>();
  /** Findings beyond those that are kept, by kind. */
  readonly #more = new Map<Finding['kind'], number>();

  readonly find: Find = (kind, key, problem) => {
    const name = nameOf({ kind, key });
    if (this.#found.has(name)) return;
    if (this.#found.size < mostOpen) this.#found.set(name, { kind, key, problem: problem.slice(0, mostCharacters) });
    else this.#more.set(kind, (this.#more.get(kind) ?? 0) + 1);
  };

  add({ kind, key, problem }: Finding): void {
    this.find(kind, key, problem);
  }

  /**
   * @param checked what was open and looked at again, and what it is unless it is found again
   * @param now time of the audit
   */
  settle(chain: KnownBefore, checked: ReadonlyMap<OpenFinding, Rechecked>, now: string): Settled {
    const earlier = chain.state.open.first;
    const before = new Map(earlier.map((one) => [nameOf(one), one]));
    const found = [...this.#found.values()].map((one) => lasting(one, chain, before, now));
    const isFound = new Set(found.map(nameOf));
    // Whatever was found of what could not be read before takes its place.
    const isAt = new Set(found.filter(({ kind }) => staysOpen(kind)).map(({ key }) => key));
    const isReplaced = (one: OpenFinding) => isFound.has(nameOf(one)) || (!isDamage(one.kind) && isAt.has(one.key));
    // Without room for all that was found, nobody can tell what was not found again.
    const isOver = (one: OpenFinding) => checked.get(one) === 'repaired' && this.#more.size === 0;
    const left = earlier.filter((one) => !isOver(one) && !isReplaced(one));
    // It is judged again until a right record says what should be there.
    const kept = (one: OpenFinding) =>
      checked.get(one) === 'unvouched' ? { ...one, kind: 'unvouched' as const } : one;
    const open = [
      ...left.filter((one) => !checked.has(one)),
      ...left.filter((one) => checked.has(one)).map(kept),
      ...found.filter(({ kind }) => staysOpen(kind)),
    ];
    const carried = fitting(open).slice(0, mostOpen);
    const more = [...this.#more].reduce((sum, [kind, left]) => sum + (staysOpen(kind) ? left : 0), 0);
    const isOpen = new Set(open.map(({ key }) => key));
    const repaired = earlier.filter(({ key }) => !isOpen.has(key));
    // One run record that was replaced makes thousands unvouched: the others are named first.
    const isUnvouched = ({ kind }: OpenFinding) => Number(kind === 'unvouched');
    const named = found.toSorted((one, other) => isUnvouched(one) - isUnvouched(other)).slice(0, mostFindings);
    return {
      found: this.#count(found),
      findings: named.map(({ kind, key, problem }) => ({ kind, key, problem })),
      open: { count: open.length + more, first: [...carried] },
      repaired: counted(repaired.map(nameOf), mostFindings),
    };
  }

  #count(found: readonly OpenFinding[]): Record<string, number> {
    const counts = new Map<string, number>(this.#more);
    for (const { kind } of found) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return Object.fromEntries(counts);
  }
}

/** Gives a finding the time since when it is so. A fault may pass; what is sealed, and cannot be read in two audits, is damage. */
function lasting(
  one: Finding,
  { records }: KnownBefore,
  before: ReadonlyMap<string, OpenFinding>,
  now: string,
): OpenFinding {
  const { kind, key, problem } = one;
  const earlier = before.get(nameOf(one)) ?? before.get(nameOf({ kind: 'unvouched', key }));
  if (kind === 'unreadable' && (records.has(key) || parseObjectKey(key) !== undefined)) {
    const unread = earlier ?? before.get(nameOf({ kind: 'damaged', key }));
    if (unread) return { kind: 'damaged', key, problem: problems.unread(problem), since: unread.since };
  }
  return { ...one, since: earlier?.since ?? now };
}

/** As many of the first as a state has room for. */
function fitting(open: readonly OpenFinding[]): readonly OpenFinding[] {
  let bytes = 0;
  const end = open.findIndex((one) => {
    bytes += Buffer.byteLength(JSON.stringify(one)) + 1;
    return bytes > mostOpenBytes;
  });
  return end < 0 ? open : open.slice(0, end);
}
