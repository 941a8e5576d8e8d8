import { AttackedStory } from './attacked-story';
import { SealedWorld } from './sealed-world';

it('5,000 stories with lies that are well made have each of them named, and 500 without an attack have no finding', async () => {
  for (let at = 0; at < 5000; at += 1)
    expect(await new AttackedStory(new SealedWorld(), `attacked/${at}`, true).play()).toEqual([]);
  for (let at = 0; at < 500; at += 1)
    expect(await new AttackedStory(new SealedWorld(), `calm/${at}`, false).play()).toEqual([]);
}, 3_600_000);
