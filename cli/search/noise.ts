import type { LinePattern } from './line-pattern';

/**
 * Whether two texts are the same without the lines that match. Where a text ends with such a line, the line end before it and
 * the one behind it both count as its own.
 */
export function isSameButNoise(one: string, other: string, isNoise: LinePattern): boolean {
  const isSameOf = (linesOf: (text: string) => string[]) => {
    const [before, after] = [one, other].map((text) => linesOf(text).filter((line) => !isNoiseLine(line, isNoise)));
    return before?.join('\n') === after?.join('\n');
  };
  return isSameOf((text) => text.split('\n')) || isSameOf((text) => text.split(/(?<=\n)/));
}

/** How many of the lines that match the later text has and the earlier one has not. */
export function newNoiseLines(one: string, other: string, isNoise: LinePattern): number {
  const [before, after] = [one, other].map((text) => text.split('\n').filter((line) => isNoiseLine(line, isNoise)));
  const known = new Set(before);
  return after?.filter((line) => !known.has(line)).length ?? 0;
}

/** @param line with its end, or without it */
export function isNoiseLine(line: string, isNoise: LinePattern): boolean {
  return isNoise(line.replace(/\r?\n?$/, ''));
}
