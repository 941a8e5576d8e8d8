import { AttackedStory } from './attacked-story';
import { SealedWorld } from './sealed-world';

/** `attacked-story.soak.test.ts` plays hundreds. */
describe('a story of some days', () => {
  it.each(['0', '1'])('without an attack has no finding: %s', async (seed) => {
    expect(await new AttackedStory(new SealedWorld(), `calm/${seed}`, false).play()).toEqual([]);
  });

  it.each(
    Array.from({ length: 5 }, (_, at) => at),
  )('with lies that are well made has each of them named: %i', async (at) => {
    expect(await new AttackedStory(new SealedWorld(), `attacked/${at}`, true).play()).toEqual([]);
  });
});
