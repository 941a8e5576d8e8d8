import type { RunOutcome } from '../run/run-record';

/** Notices which manifests changed from run to run, by the hashes in the run records. */
export class ManifestChanges {
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
