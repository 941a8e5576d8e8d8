import { DamageStory } from './damage-story';

describe('1,000 random histories of audits', () => {
  it('leave open what is damaged and neither repaired nor acknowledged', async () => {
    for (let at = 0; at < 1000; at += 1) expect(await new DamageStory(`damage/${at}`).play()).toEqual([]);
  }, 3_600_000);
});
