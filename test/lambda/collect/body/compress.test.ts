import { nextInRound } from '../../../../lambda/collect/body/compress';

describe('rounds of short bodies', () => {
  it('lets the event loop look at the network after every eight bodies, and keeps their order', async () => {
    const order: number[] = [];
    const rounds: number[] = [];
    let round = 0;
    let isOver = false;
    const count = () => {
      round += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const bodies = Array.from({ length: 100 }, async (_, body) => {
      await nextInRound();
      order.push(body);
      rounds.push(round);
    });
    await Promise.all(bodies);
    isOver = true;
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const perRound = rounds.map((one) => rounds.filter((other) => other === one).length);
    expect(Math.max(...perRound)).toBe(8);
  });
});
