import { dateOf } from '../../lambda/archive/archive-layout';
import { type Resource, resourceNames, resources } from '../../lambda/resources';
import { isStored } from '../../lambda/run/run-record';
import type { Run } from '../../lambda/verify/read-run';

type Folder = (typeof resources)[Resource]['folder'];

/**
 * What an archive holds of something. Lengths, of each resource under the name of its folder, are as stored, in bytes, without
 * the metadata that S3 keeps.
 */
export type Held = Record<'runs' | 'objects' | 'runRecords' | Folder, number>;

const folders = resourceNames.map((name) => resources[name].folder);
const nothing = Object.fromEntries(['runs', 'objects', ...folders, 'runRecords'].map((name) => [name, 0])) as Held;

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
        held[resources[resource].folder] += storedBytes;
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
      .map(([cluster, { runs, runRecords, ...held }]) => ({ cluster, ...held }))
      .sort((a, b) => bytesOf(b) - bytesOf(a) || (a.cluster < b.cluster ? -1 : 1));
  }
}

/** All bytes of it. */
export function bytesOf(held: Partial<Held>): number {
  return folders.reduce((sum, folder) => sum + (held[folder] ?? 0), held.runRecords ?? 0);
}

function heldIn(all: Map<string, Held>, name: string): Held {
  const held = all.get(name) ?? { ...nothing };
  all.set(name, held);
  return held;
}
