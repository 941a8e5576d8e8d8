import { resources } from '../resources';
import type { RunOutcome } from '../run/run-record';
import type { ConfiguredCluster } from '../stack-contract';
import type { StoredRun } from '../verify/read-run';
import type { Failing, Summary } from '../verify/seals/seal-state';
import { Freshness } from './freshness';

/** Most clusters with another manifest, and with a doubt, that are named. */
const mostChanged = 50;
const mostDoubts = 5;

/** Longest doubt, in characters. */
const mostCharacters = 300;

/** Sums up the runs with new records. */
export class Tally {
  readonly freshness: Freshness;
  /** Clusters that are configured, and those that the runs cover: each with the one string of its name that is kept. */
  readonly #clusters: Map<string, string>;
  /** Of the manifest of each cluster, as the newest run that was added has it. */
  readonly #hashes = new Map<string, { readonly sha256: string; readonly run: Date }>();
  /** Clusters with another manifest than in the run before, and these two runs: the last of them. */
  readonly #changed = new Map<string, { readonly from: string; readonly to: string }>();
  #newest = new Date(0);
  readonly #doubtful: string[] = [];
  readonly #sums = { complete: 0, incomplete: 0, objects: 0, bytes: 0, storedBytes: 0 };
  #doubts = 0;

  /**
   * @param failing as the seal before has it
   * @param configured clusters by the audit's own plan
   */
  constructor(failing: readonly Failing[], configured: readonly Pick<ConfiguredCluster, 'uid'>[]) {
    this.freshness = new Freshness(failing);
    this.#clusters = new Map(configured.map(({ uid }) => [uid, uid]));
  }

  /** Gives the name of a cluster as the string that is kept already: five of each would take 13 MB for 50,000 clusters. */
  readonly sharedName = (cluster: string): string => this.#clusters.get(cluster) ?? cluster;

  /** Takes note of the last run before the new ones, and then of each run that has new records. */
  add(run: StoredRun, isNew: boolean): void {
    this.freshness.add(run.run, this.#noted(run, isNew), isNew);
    if (!isNew) return;
    this.#sums[run.status] += 1;
    this.#sums.objects += run.counts.archived;
    this.#sums.bytes += run.bytes;
    this.#sums.storedBytes += run.storedBytes;
    this.#doubts += run.counts.doubts;
  }

  /** Takes note of each outcome as it passes: reading them again would parse them again. */
  *#noted({ run, outcomes }: StoredRun, isNew: boolean): Generator<RunOutcome> {
    for (const outcome of outcomes) {
      const { resource, doubt } = outcome;
      const cluster = this.sharedName(outcome.cluster);
      this.#clusters.set(cluster, cluster);
      outcome.cluster = cluster;
      this.#noteHash(run, outcome);
      if (isNew && doubt !== undefined && this.#doubtful.length < mostDoubts)
        this.#doubtful.push(`${resource} of ${cluster}: ${doubt}`.slice(0, mostCharacters));
      yield outcome;
    }
  }

  /** A run that is older than one before says nothing of a change. */
  #noteHash(run: Date, { cluster, resource, sha256 }: RunOutcome): void {
    if (run < this.#newest) return;
    this.#newest = run;
    if (resources[resource].isAlwaysNew || sha256 === undefined) return;
    const name = `${resource} ${cluster}`;
    const before = this.#hashes.get(name);
    this.#hashes.set(name, { sha256, run });
    if (before !== undefined && before.sha256 !== sha256)
      this.#changed.set(cluster, { from: before.run.toISOString(), to: run.toISOString() });
  }

  /** What is told of them. */
  result(): Pick<Summary, 'complete' | 'incomplete' | 'objects' | 'bytes' | 'storedBytes' | 'changed' | 'doubts'> {
    const changed = [...this.#changed].map(([cluster, runs]) => ({ cluster, ...runs }));
    changed.sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
    return {
      ...this.#sums,
      changed: { count: changed.length, clusters: changed.slice(0, mostChanged) },
      doubts: { count: this.#doubts, first: this.#doubtful },
    };
  }
}
