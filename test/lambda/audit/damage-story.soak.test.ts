import { DamageStory } from './damage-story';

describe('150 random histories of audits', () => {
  it('leave open what is damaged and neither repaired nor acknowledged', async () => {
    for (let at = 0; at < 150; at += 1) expect(await new DamageStory(`damage/${at}`).play()).toEqual([]);
  }, 3_600_000);
});
