import { dateOf } from '../../lambda/archive/archive-layout';
import { isStored } from '../../lambda/run/run-record';
import type { Run } from '../../lambda/verify/read-run';

const nothing = { runs: 0, objects: 0, logs: 0, manifests: 0, runRecords: 0 };

/** What an archive holds of something; lengths are as stored, in bytes, without the metadata that S3 keeps. */
export type Held = typeof nothing;

/** How an archive grows, by day of the runs and by cluster. Configurations and seals, which are few, are left out. */
export class ArchiveGrowth {
  readonly total: Held = { ...nothing };
  readonly #days = new Map<string, Held>();
  readonly #clusters = new Map<string, Held>();

  /** Takes note of a run. Runs come in the order of their times. */
  add({ run, outcomes, recordBytes }: Pick<Run, 'run' | 'outcomes' | 'recordBytes'>): void {
    const day = heldIn(this.#days, dateOf(run));
    for (const held of [this.total, day]) {
      held.runs += 1;
      held.runRecords += recordBytes;
    }
    for (const outcome of outcomes) {
      if (!isStored(outcome)) continue;
      const { cluster, resource, storedBytes = 0 } = outcome;
      for (const held of [this.total, day, heldIn(this.#clusters, cluster)]) {
        held.objects += 1;
        held[resource === 'log' ? 'logs' : 'manifests'] += storedBytes;
      }
    }
  }

  /** The oldest first. */
  get days(): readonly (Held & { readonly day: string })[] {
    return [...this.#days].map(([day, held]) => ({ day, ...held }));
  }

  /** The largest first. No part of a run record is counted as theirs. */
  get clusters(): readonly (Omit<Held, 'runs' | 'runRecords'> & { readonly cluster: string })[] {
    return [...this.#clusters]
      .map(([cluster, { objects, logs, manifests }]) => ({ cluster, objects, logs, manifests }))
      .sort((a, b) => b.logs + b.manifests - a.logs - a.manifests || (a.cluster < b.cluster ? -1 : 1));
  }
}

/** All bytes of it. */
export function bytesOf({ logs, manifests, runRecords = 0 }: Partial<Held>): number {
  return (logs ?? 0) + (manifests ?? 0) + runRecords;
}

function heldIn(all: Map<string, Held>, name: string): Held {
  const held = all.get(name) ?? { ...nothing };
  all.set(name, held);
  return held;
}
