import { DamageStory } from './damage-story';

describe('random audits of an archive that is damaged and repaired', () => {
  // In the last two, a record that calls an object failed is written over behind it.
  const seeds = [...Array.from({ length: 6 }, (_, at) => `damage/${at}`), 'lead28/2825', 'lead28/3240'];

  it.each(seeds)('leave open what is damaged: %s', async (seed) => {
    expect(await new DamageStory(seed).play()).toEqual([]);
  });
});
