import { AttackedStory } from './attacked-story';
import { SealedWorld } from './sealed-world';

/** `attacked-story.soak.test.ts` plays hundreds. */
describe('a story of some days', () => {
  it.each(['0', '1'])('without an attack has no finding: %s', async (seed) => {
    expect(await new AttackedStory(new SealedWorld(), `calm/${seed}`, false).play()).toEqual([]);
  });

  // In the last, the next audit goes on from a seal that somebody else signed with its key.
  it.each([0, 1, 2, 3, 4772])('with lies that are well made has each of them named: %i', async (at) => {
    expect(await new AttackedStory(new SealedWorld(), `attacked/${at}`, true).play()).toEqual([]);
  });
});
