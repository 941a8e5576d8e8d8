import * as z from 'zod/mini';
import { count } from './run-record';

/** How many there are, and the first of them. */
export interface Counted<One> {
  readonly count: number;
  readonly first: readonly One[];
}

export const none = { count: 0, first: [] };

export function countedSchema<One extends z.ZodMiniType>(one: One) {
  return z.object({ count, first: z.array(one) });
}

/** How many of them are not among the first. */
export function moreOf({ count, first }: Counted<unknown>): number {
  return count - first.length;
}

/** @param most how many are kept */
export function counted<One>(all: readonly One[], most: number): { count: number; first: One[] } {
  return { count: all.length, first: all.slice(0, most) };
}
