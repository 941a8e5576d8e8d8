import { drain, type Judged, judge, judgeRest, type World } from '../../archive/prove/attest';
import { clusterNames } from '../../archive/read';
import { begun, divide, done, halved, isDue, isPass, order, type Work } from './agenda';
import { inTime } from './audit-world';
import type { Findings } from './findings';

/** Looks at what is judged, and gives members of the seal and its state. */
export interface Observer {
  /** Takes what comes of a slice. */
  take?(judged: Judged, work: Work): void;
  /** The slice was judged whole. What ended early was not judged, and nothing of it counts as seen. */
  judged?(work: Work): void | Promise<void>;
  /** Nothing is left of a pass. */
  passed?(pass: Work): void;
}

export interface WalkOptions {
  /** Aborts when the time is over. */
  readonly stop: AbortSignal;
  readonly findings: Findings;
  readonly observers: readonly Observer[];
  /** Within which old content is read again; undefined: it is not. */
  readonly rereadDays: number | undefined;
  /** Times of all runs that have a record, oldest first, and of each the number of the newest seal that has one of them first. */
  readonly runs: ReadonlyMap<number, number>;
  /** Judges content of what is new. */
  readonly checkNew: World['check'];
}

/**
 * Judges slice by slice what is on the agenda, as far as there is time. What is old comes once nothing is left of what is new.
 * @returns what is left to do
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function walk(agenda: readonly Work[], world: World, options: WalkOptions): Promise<Work[]> {
  const { stop, observers, rereadDays } = options;
  const left: Work[] = [];
  const rest = new Rest(world, options.findings);
  for (const what of order) {
    const [first, ...others] = agenda.filter((work) => work.what === what);
    if (first === undefined) continue;
    const isKeptWaiting = isPass(first) && left.some((one) => !isPass(one));
    if (isKeptWaiting || stop.aborted || !isDue(first, world.now, rereadDays)) {
      left.push(first, ...others);
      continue;
    }
    const pass = begun(first, world.now);
    if (isPass(first)) await inTime(stop, () => rest.look());
    const parts = await goOn([pass, ...others], world, rest, options);
    left.push(...parts);
    if (!isPass(first) || parts.length > 0) continue;
    for (const observer of observers) observer.passed?.(pass);
    left.push(done(pass));
  }
  return left;
}

/** @returns what is left of some parts */
async function goOn(parts: readonly Work[], world: World, rest: Rest, options: WalkOptions): Promise<readonly Work[]> {
  const { stop, runs, checkNew } = options;
  let todo = parts;
  for (let isFirst = true; ; isFirst = false) {
    const [next, ...behind] = todo;
    if (next === undefined || stop.aborted) return todo;
    const own = next.what === 'new' ? { ...world, check: checkNew } : world;
    const left = await inTime(stop, async () => {
      const { seal = 0 } = next;
      const times = [...runs].flatMap(([run, newest]) => (newest >= seal ? run : []));
      const { slice, left } = divide(next, times, await rest.clusters());
      await judgeSlice(next, slice, own, options);
      return left;
    });
    // What takes longer than an audit has time would never end.
    if (left === undefined) return isFirst ? [halved(next), ...behind] : todo;
    todo = [...left, ...behind];
  }
}

/** @throws ArchiveReadError, and the reason of the stop: then it was not judged whole */
async function judgeSlice(
  work: Work,
  slice: Parameters<typeof judge>[0],
  world: World,
  { findings, observers }: WalkOptions,
): Promise<void> {
  await drain(judge(slice, world), (judged) => {
    // What is not there of what was due is told once, when its run is new.
    if ('finding' in judged && judged.finding.kind !== 'absent') findings.add(judged.finding);
    for (const observer of observers) observer.take?.(judged, work);
  });
  for (const observer of observers) await observer.judged?.(work);
}

/** What lies beside all slices, looked at once. */
class Rest {
  readonly #world: World;
  readonly #findings: Findings;
  #clusters: Promise<string[]> | undefined;
  #isSeen = false;

  constructor(world: World, findings: Findings) {
    this.#world = world;
    this.#findings = findings;
  }

  /** Names of all clusters that the bucket has keys of. @throws ArchiveReadError */
  clusters(): Promise<string[]> {
    this.#clusters ??= this.#list();
    return this.#clusters;
  }

  async #list(): Promise<string[]> {
    const { reader, keptName = (name) => name } = this.#world;
    return (await clusterNames(reader, this.#findings.find)).map(keptName);
  }

  /** @throws ArchiveReadError */
  async look(): Promise<void> {
    if (this.#isSeen) return;
    this.#isSeen = true;
    for await (const finding of judgeRest(this.#world.reader, this.#world.configurations)) this.#findings.add(finding);
  }
}
