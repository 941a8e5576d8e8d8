import { compareKeys } from '../../../../archive/read';

describe('compareKeys', () => {
  it('orders keys by their bytes as UTF-8, also characters beyond 16 bits beside the last of those within', () => {
    const parts = ['', 'a', 'b', '/', '.', '~', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'];
    const keys = parts.flatMap((one) => parts.map((other) => `k${one}${other}`));
    const wrong: unknown[] = [];
    for (const a of keys)
      for (const b of keys)
        if (Math.sign(compareKeys(a, b)) !== Buffer.compare(Buffer.from(a), Buffer.from(b))) wrong.push([a, b]);
    expect(wrong).toEqual([]);
  });
});
