/**
 * Maps with at most `limit` calls under way, and yields the results in the order of the inputs. No input is read before its
 * call can start, so that `limit` bounds the memory. Ends with the first error, after what is under way has settled.
 */
export async function* mapConcurrently<Input, Result>(
  inputs: AsyncIterable<Input> | Iterable<Input>,
  limit: number,
  map: (input: Input) => Promise<Result>,
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  try {
    for await (const input of inputs) {
      const result = map(input);
      // Its rejection is thrown when its turn comes; until then it must not count as unhandled.
      result.catch(() => {});
      underWay.push(result);
      if (underWay.length < limit) continue;
      const first = underWay.shift();
      if (first !== undefined) yield await first;
    }
    for (let next = underWay.shift(); next !== undefined; next = underWay.shift()) yield await next;
  } finally {
    await Promise.allSettled(underWay);
  }
}
