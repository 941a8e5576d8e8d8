import { AttackedStory } from './attacked-story';
import { SealedWorld } from './sealed-world';

// A story takes a quarter of a second: as many as a minute holds.
it('200 stories with lies that are well made have each of them named, and 25 without an attack have no finding', async () => {
  for (let at = 0; at < 200; at += 1)
    expect(await new AttackedStory(new SealedWorld(), `attacked/${at}`, true).play()).toEqual([]);
  for (let at = 0; at < 25; at += 1)
    expect(await new AttackedStory(new SealedWorld(), `calm/${at}`, false).play()).toEqual([]);
}, 900_000);
