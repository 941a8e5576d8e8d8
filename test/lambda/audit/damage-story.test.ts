import { DamageStory } from './damage-story';

describe('random audits of an archive that is damaged and repaired', () => {
  it.each(Array.from({ length: 6 }, (_, at) => `damage/${at}`))('leave open what is damaged: %s', async (seed) => {
    expect(await new DamageStory(seed).play()).toEqual([]);
  });
});
