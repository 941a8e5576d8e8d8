import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCollection } from '../../lambda/wiring';

it('the collection file is read with the digest that run records name it by', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'collection-test-'));
  await writeFile(join(directory, 'collection.json'), '{"clusters":[]}');
  expect(loadCollection(directory)).toEqual({
    collection: { clusters: [] },
    // echo -n '{"clusters":[]}' | sha256sum
    digest: 'c69436cb1e16c36ff708b1003d3ca4c6ee6484d2524e2ba7d9b68f473acaa1ca',
  });
  await rm(directory, { recursive: true });
});
