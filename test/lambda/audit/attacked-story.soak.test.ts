import { AttackedStory } from './attacked-story';
import { SealedWorld } from './sealed-world';

// A story takes a quarter of a second: as many as two minutes hold.
it('400 stories with lies that are well made have each of them named, and 50 without an attack have no finding', async () => {
  for (let at = 0; at < 400; at += 1)
    expect(await new AttackedStory(new SealedWorld(), `attacked/${at}`, true).play()).toEqual([]);
  for (let at = 0; at < 50; at += 1)
    expect(await new AttackedStory(new SealedWorld(), `calm/${at}`, false).play()).toEqual([]);
}, 900_000);
