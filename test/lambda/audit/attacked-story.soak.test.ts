import { AttackedStory } from './attacked-story';

// A story takes a quarter of a second: as many as a minute holds.
it('200 stories with lies that are well made have each of them named', async () => {
  for (let at = 0; at < 200; at += 1) expect(await new AttackedStory(`attacked/${at}`).play()).toEqual([]);
}, 900_000);
