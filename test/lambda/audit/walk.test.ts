import { CountedArchive, countsOfYear, passOver } from './counted-archive';

describe('a pass over what is there', () => {
  it.each([
    [1, 1100],
    [1100, 2],
  ])('of %i clusters and %i runs takes an answer for each 1,000 keys, and two for each cluster', async (clusters, runs) => {
    const archive = new CountedArchive({ clusters, runs });
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) times.push(archive.now.getTime() - (runs - run) * 3_600_000 + 1_800_000);
    expect(await passOver(archive, times)).toEqual([]);
    // A listing ends with the first key behind its stretch.
    expect(archive.keys).toBeLessThanOrEqual(2 * clusters * (runs + Math.floor(runs / 1000)));
    const names = 3 * Math.ceil(clusters / 1000);
    expect(archive.answers).toBeLessThanOrEqual((2 * clusters * runs) / 1000 + 2 * clusters + names);
  });
});

it('a pass that lists a year of hourly runs of 1,000 clusters takes an answer for each 1,000 keys, and two for each cluster', async () => {
  const { listings, ...counts } = await countsOfYear(1000, 'listing');
  expect(counts).toEqual({ left: [], records: 2 * 8760 });
  expect(listings).toBe(9 * 2 * 1000 + 3);
  expect(listings).toBeLessThanOrEqual((2 * 1000 * 8760) / 1000 + 2 * 1000);
});
