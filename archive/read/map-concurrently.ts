import { types } from 'node:util';

/**
 * Maps all inputs with at most `limit` calls under way. What no call waits for is there at once. Ends with an error after what
 * is under way has settled.
 */
export async function mapAll<Input, Result>(
  inputs: readonly Input[],
  limit: number,
  map: (input: Input) => Result | Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(inputs.length);
  const errors: unknown[] = [];
  const entries = inputs.entries();
  const work = async () => {
    for (const [at, input] of entries) {
      if (errors.length > 0) return;
      const result = map(input);
      results[at] = types.isPromise(result) ? await result : result;
    }
  };
  const keep = (error: unknown) => void errors.push(error);
  await Promise.all(Array.from({ length: limit }, () => work().catch(keep)));
  if (errors.length > 0) throw errors[0];
  return results;
}

/**
 * Maps with at most `limit` calls under way, and yields the results in the order of the inputs. No input is read before its
 * call can start, so that `limit` bounds the memory. Ends with the first error, after what is under way has settled.
 */
export async function* mapConcurrently<Input, Result>(
  inputs: AsyncIterable<Input> | Iterable<Input>,
  limit: number,
  map: (input: Input) => Result | Promise<Result>,
): AsyncGenerator<Result> {
  const underWay: (Result | Promise<Result>)[] = [];
  try {
    for await (const input of inputs) {
      const result = map(input);
      if (types.isPromise(result)) {
        // Its rejection is thrown when its turn comes; until then it must not count as unhandled.
        result.catch(() => {});
      } else if (underWay.length === 0) {
        yield result;
        continue;
      }
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
