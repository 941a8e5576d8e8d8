import { AttackedStory } from './attacked-story';
import { SealedWorld } from './sealed-world';

/** `attacked-story.soak.test.ts` plays hundreds. Without an attack, histories with audits are played in their place. */
describe('a story of some days', () => {
  // In the last, the next audit goes on from a seal that somebody else signed with its key.
  it.each([0, 1, 2, 3, 4772])('with lies that are well made has each of them named: %i', async (at) => {
    expect(await new AttackedStory(new SealedWorld(), `attacked/${at}`).play()).toEqual([]);
  });
});
