import type { ConfiguredCluster } from '../../archive/format/configuration';
import { counted } from '../../archive/format/counted';
import { resourceNames, resources } from '../../archive/format/resources';
import { isStored, type RunOutcome, taskName } from '../../archive/format/run-record';
import type { SealState, Summary } from '../../archive/format/seal-state';

/** How many lengths are a habit, and from how many on one is known. */
const most = 10;
const least = 3;

/** How many times as long, or as short, is out of the habit. */
const factor = 2;

/** Of what is always new, an odd length says nothing. */
const seldomNew = resourceNames.filter((resource) => !resources[resource].isAlwaysNew);

/**
 * What is kept of one resource of a cluster: the run of the newest length, in seconds since 1970, and the lengths in bytes, the
 * newest first, each at most {@link longest}; 0: none. 44 bytes: there may be 50,000 clusters.
 */
const slot = 1 + most;
const longest = 2 ** 32 - 1;

/** Most clusters that a state names. */
const mostNamed = 50;

type Unusual = Summary['unusual']['first'][number];

/** As a state has it: run, lengths, and the name of resource and cluster, which may have blanks. */
const line = /^(\d+(?: \d+)+) ([a-z]+\/.+)$/;

/** Compares what seldom changes with its own last lengths, for clusters of the plan. Who left it is forgotten. */
export class Habits {
  readonly #plan: readonly Pick<ConfiguredCluster, 'uid'>[];
  readonly #slots: Uint32Array;
  readonly #now: number;
  /** Of a cluster the last. */
  readonly #unusual = new Map<string, Unusual>();

  /**
   * @param before as the seal before has it
   * @param plan the clusters that are to be collected
   * @param now a run that claims to be later does not count: no other would count after it
   */
  constructor(before: SealState['habits'], plan: readonly Pick<ConfiguredCluster, 'uid'>[], now: Date) {
    this.#plan = plan;
    this.#now = secondsOf(now);
    this.#slots = new Uint32Array(plan.length * seldomNew.length * slot);
    const kept = new Map(before.flatMap((text) => readLine(text)));
    for (const { name, at } of this.#names()) this.#slots.set(kept.get(name) ?? [], at);
  }

  /**
   * Takes note of what a run archived. What is not behind the run of the newest length does not count: it was counted
   * already, or its run was completed late.
   * @param at where the plan has its cluster
   */
  add(at: number, run: Date, { cluster, resource, bytes, ...outcome }: RunOutcome): void {
    const of = seldomNew.indexOf(resource as (typeof seldomNew)[number]);
    const seconds = secondsOf(run);
    if (of < 0 || !isStored(outcome) || !bytes || seconds > this.#now) return;
    const start = (at * seldomNew.length + of) * slot;
    const own = this.#slots.subarray(start, start + slot);
    if (seconds <= (own[0] ?? 0)) return;
    const length = Math.min(bytes, longest);
    const usual = usualUnlessLike(length, own.subarray(1));
    if (usual !== undefined)
      this.#unusual.set(cluster, { cluster, resource, run: run.toISOString(), bytes: length, usual });
    own.copyWithin(2, 1);
    own.set([seconds, length]);
  }

  /** Clusters with something out of its habit. */
  unusual(): Summary['unusual'] {
    const named = [...this.#unusual.values()].sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
    return counted(named, mostNamed);
  }

  /** For the next audit. */
  state(): SealState['habits'] {
    const lines: string[] = [];
    for (const { name, at } of this.#names()) {
      const known = this.#slots.subarray(at, at + slot).filter((value) => value > 0);
      if (known.length > 0) lines.push(`${known.join(' ')} ${name}`);
    }
    return lines;
  }

  /** What the plan has, and where its numbers lie. */
  *#names(): Generator<{ readonly name: string; readonly at: number }> {
    let at = 0;
    for (const { uid: cluster } of this.#plan)
      for (const resource of seldomNew) {
        yield { name: taskName({ cluster, resource }), at };
        at += slot;
      }
  }
}

/** @param lengths the last ones; 0: none. @returns their median; undefined: the length is within the habit, or none is known */
function usualUnlessLike(length: number, lengths: Uint32Array): number | undefined {
  // What was so once in the last ten was named then, or it was the habit before.
  if (lengths.some((one) => isLike(length, one))) return undefined;
  const known = lengths.filter((one) => one > 0).sort();
  if (known.length < least) return undefined;
  const middle = known.length / 2;
  const median = ((known[Math.ceil(middle) - 1] ?? 0) + (known[Math.floor(middle)] ?? 0)) / 2;
  return isLike(length, median) ? undefined : Math.round(median);
}

/** Whether neither is more than twice the other. */
function isLike(one: number, other: number): boolean {
  return one <= factor * other && other <= factor * one;
}

function readLine(text: string): [name: string, numbers: readonly number[]][] {
  const [, numbers = '', name = ''] = line.exec(text) ?? [];
  return name === '' ? [] : [[name, numbers.split(' ').slice(0, slot).map(Number)]];
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
