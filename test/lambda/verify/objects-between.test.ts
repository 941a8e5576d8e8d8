import { objectKey } from '../../../lambda/archive/archive-layout';
import type { ArchiveReader, ListedObject } from '../../../lambda/verify/archive-reader';
import { objectsBetween } from '../../../lambda/verify/objects-between';

const hour = (at: number) => new Date(Date.UTC(2026, 10, 1, at));

/** An archive that can only be listed. It counts the objects that it lists. */
class ListedArchive implements ArchiveReader {
  readonly location = 'memory';
  handedOut = 0;

  readonly #keys: readonly string[];

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  async *list(prefix: string, after = ''): AsyncGenerator<ListedObject> {
    for (const key of this.#keys) {
      if (!key.startsWith(prefix) || key <= after) continue;
      this.handedOut += 1;
      yield { key, storedBytes: 1, writtenAt: new Date(0) };
    }
  }

  time(): never {
    throw new Error('a listing is enough');
  }

  head(): never {
    throw new Error('a listing is enough');
  }

  open(): never {
    throw new Error('a listing is enough');
  }
}

const clusters = ['a', 'b b', 'c'];
const hours = Array.from({ length: 500 }, (_, at) => at);
const keys = [
  ...clusters.flatMap((cluster) =>
    hours.map((at) => objectKey({ resource: 'log', cluster, run: hour(at), compression: 'gzip' })),
  ),
  'logs/readme.txt',
].sort();

describe('the objects of a period', () => {
  it.each([1, 7, 1000])('are all found, with every key of no archive, with a patience of %d', async (patience) => {
    const reader = new ListedArchive(keys);
    const found: string[] = [];
    for await (const { key } of objectsBetween(reader, 'log', { from: hour(200), to: hour(209) }, patience))
      found.push(key);
    expect(found).toEqual(keys.filter((key) => key.endsWith('.txt') || isBetween(key)));
    expect(found).toHaveLength(31);
  });

  it('are found without listing what lies outside it', async () => {
    const reader = new ListedArchive(keys);
    for await (const _ of objectsBetween(reader, 'log', { from: hour(200), to: hour(209) }, 10));
    expect(reader.handedOut).toBeLessThan(clusters.length * 45);
  });

  it('are found in one listing if it has no ends', async () => {
    const reader = new ListedArchive(keys);
    let count = 0;
    for await (const _ of objectsBetween(reader, 'log', {}, 10)) count += 1;
    expect([count, reader.handedOut]).toEqual([keys.length, keys.length]);
  });
});

function isBetween(key: string): boolean {
  const stamp = /(\d{8}T\d{6}\.\d{3}Z)/.exec(key)?.[1] ?? '';
  return stamp >= '20261109T080000.000Z' && stamp <= '20261109T170000.000Z';
}
