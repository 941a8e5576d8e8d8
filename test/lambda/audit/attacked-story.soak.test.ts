import { AttackedStory } from './attacked-story';
import { SealedWorld } from './sealed-world';

// A story takes a quarter of a second: as many as a minute holds.
it('200 stories with lies that are well made have each of them named', async () => {
  for (let at = 0; at < 200; at += 1)
    expect(await new AttackedStory(new SealedWorld(), `attacked/${at}`).play()).toEqual([]);
}, 900_000);
