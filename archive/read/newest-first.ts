import { dayMs } from '../format/clocks';
import type { Period } from './run-keys';

/** Longest part behind one that had items: its items are held in memory. */
const longestPartMs = 32 * dayMs;

/**
 * What a listing finds in a period, newest first. A listing runs forward only: so this lists the last day, then the two
 * days before it, the four before those, and so on until the oldest item.
 * @param list the items of a period, by the time of their runs
 * @param now where to begin if the period has no end; what is newer is found as well
 */
export async function* newestFirst<Item extends { readonly run: Date }>(
  list: (period: Period) => AsyncIterable<Item>,
  period: Period,
  now: Date,
): AsyncGenerator<Item> {
  const oldest = (await firstOf(list(period)))?.run.getTime();
  if (oldest === undefined) return;
  let to = period.to;
  let end = to ?? now;
  for (let partMs = dayMs; ; ) {
    const from = new Date(Math.max(end.getTime() - partMs + 1, oldest));
    const found: Item[] = [];
    for await (const item of list({ from, to })) found.push(item);
    yield* found.reverse();
    if (from.getTime() <= oldest) return;
    end = new Date(from.getTime() - 1);
    to = end;
    partMs = found.length === 0 ? 2 * partMs : Math.min(2 * partMs, longestPartMs);
  }
}

/** The first item; undefined if there is none. Nothing behind it is read. */
export async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/** The first so many items. Nothing behind them is read. */
export async function* take<Item>(count: number, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let taken = 0;
  if (count < 1) return;
  for await (const item of items) {
    yield item;
    taken += 1;
    if (taken === count) return;
  }
}
