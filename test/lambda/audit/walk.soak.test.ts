import { countsOfYear } from './counted-archive';

it('a pass that lists a year of hourly runs of 50,000 clusters takes an answer for each 1,000 keys, and two for each cluster', async () => {
  const { listings, ...counts } = await countsOfYear(50_000, 'listing');
  expect(counts).toEqual({ left: [], records: 2 * 8760 });
  expect(listings).toBe(9 * 2 * 50_000 + 150);
  expect(listings).toBeLessThanOrEqual((2 * 50_000 * 8760) / 1000 + 2 * 50_000);
}, 120_000);

it('a pass that reads a year of hourly runs of 1,000 clusters reads each run record ten times', async () => {
  expect(await countsOfYear(1000, 'reading')).toEqual({ left: [], listings: 44 * 2 * 1000 + 3, records: 96_040 });
}, 120_000);
