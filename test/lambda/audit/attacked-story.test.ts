import { AttackedStory } from './attacked-story';

/** `attacked-story.soak.test.ts` plays hundreds. Without an attack, histories with audits are played in their place. */
describe('a story of some days', () => {
  // In the last two, the next audit goes on from a seal that somebody else signed with its key, once with its name.
  const seeds = ['attacked/0', 'attacked/1', 'attacked/2', 'attacked/3', 'attacked/4772', 'lighter/992'];

  it.each(seeds)('with lies that are well made has each of them named: %s', async (seed) => {
    expect(await new AttackedStory(seed).play()).toEqual([]);
  });
});
