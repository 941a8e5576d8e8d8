import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCollection, readEnvironment, SettingsError } from '../../lambda/wiring';

it('every environment variable that is missing is named at once', () => {
  expect(() => readEnvironment({ ARCHIVE_BUCKET: '' })).toThrow(SettingsError);
  expect(() => readEnvironment({})).toThrow('ARCHIVE_BUCKET, API_KEY_SECRET not set; deploy the stack again');
  expect(readEnvironment({ ARCHIVE_BUCKET: 'b', API_KEY_SECRET: 's', OTHER: 'x' })).toEqual({
    ARCHIVE_BUCKET: 'b',
    API_KEY_SECRET: 's',
  });
});

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
