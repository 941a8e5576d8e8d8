import type { RunOutcome } from '../run/run-record';
import type { Run } from '../verify/read-run';
import type { Failing } from '../verify/seals/seal';
import { Freshness } from './freshness';

/** What an audit tells of the runs with new records. */
export interface Tallied {
  /** How many of them are complete. */
  readonly runs: { readonly complete: number; readonly incomplete: number };
  /** Clusters with the last run that shows another manifest than the run before, by name. */
  readonly changed: readonly (readonly [cluster: string, run: Date])[];
  readonly doubts: { readonly count: number; readonly first: readonly string[] };
  /** Uncompressed and stored. */
  readonly growth: { readonly objects: number; readonly bytes: number; readonly storedBytes: number };
}

/** Most clusters with a doubt that the mail names. */
const mostDoubts = 5;

/** Sums up the runs with new records. */
export class Tally {
  readonly freshness: Freshness;
  /** Clusters that the runs cover. */
  readonly clusters = new Set<string>();
  readonly #changes = new ManifestChanges();
  readonly #doubtful: string[] = [];
  readonly #runs = { complete: 0, incomplete: 0 };
  readonly #growth = { objects: 0, bytes: 0, storedBytes: 0 };
  #doubts = 0;

  /** @param failing as the seal before has it */
  constructor(failing: readonly Failing[]) {
    this.freshness = new Freshness(failing);
  }

  readonly add = (run: Run, isNew: boolean): void => {
    this.#changes.add(run.run, run.outcomes);
    for (const { cluster } of run.outcomes) this.clusters.add(cluster);
    if (!isNew) {
      this.freshness.addKnown(run.run, run.outcomes);
      return;
    }
    this.freshness.add(run.run, run.outcomes);
    if (run.status === 'complete') this.#runs.complete += 1;
    else this.#runs.incomplete += 1;
    this.#growth.objects += run.counts.archived;
    this.#growth.bytes += run.bytes;
    this.#growth.storedBytes += run.storedBytes;
    this.#doubts += run.counts.doubts;
    for (const { cluster, resource, doubt } of run.outcomes)
      if (doubt !== undefined && this.#doubtful.length < mostDoubts)
        this.#doubtful.push(`${resource} of ${cluster}: ${doubt}`);
  };

  result(): Tallied {
    const doubts = { count: this.#doubts, first: this.#doubtful };
    return { runs: this.#runs, changed: this.#changes.changed, doubts, growth: this.#growth };
  }
}

/** Notices which manifests changed from run to run, by the hashes in the run records. */
class ManifestChanges {
  readonly #hashes = new Map<string, string>();
  readonly #changed = new Map<string, Date>();
  #newest = new Date(0);

  /** Takes note of a run. One that is older than those before says nothing of a change. */
  add(run: Date, outcomes: readonly RunOutcome[]): void {
    if (run < this.#newest) return;
    this.#newest = run;
    for (const { cluster, resource, sha256 } of outcomes) {
      if (resource !== 'manifest' || sha256 === undefined) continue;
      const before = this.#hashes.get(cluster);
      this.#hashes.set(cluster, sha256);
      if (before !== undefined && before !== sha256) this.#changed.set(cluster, run);
    }
  }

  /** Clusters with the last run that shows another manifest than the run before, by name. */
  get changed(): readonly (readonly [cluster: string, run: Date])[] {
    return [...this.#changed].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
