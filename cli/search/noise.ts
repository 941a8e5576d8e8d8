import type { LinePattern } from './line-pattern';

/** How two texts differ where lines that match do not count. */
export interface NoiseDifference {
  /** Whether what is left without these lines is the same. */
  readonly isOnlyNoise: boolean;
  /** How many such lines the later text has and the earlier one has not. */
  readonly newLines: number;
}

export function compareWithoutNoise(one: string, other: string, isNoise: LinePattern): NoiseDifference {
  const [before, after] = [one, other].map((text) => {
    const lines = text.split('\n');
    return {
      noise: lines.filter((line) => isNoiseLine(line, isNoise)),
      rest: lines.filter((line) => !isNoiseLine(line, isNoise)),
    };
  });
  const known = new Set(before?.noise);
  const isOnlyNoise = before?.rest.join('\n') === after?.rest.join('\n');
  return { isOnlyNoise, newLines: after?.noise.filter((line) => !known.has(line)).length ?? 0 };
}

/** @param line with its end, or without it */
export function isNoiseLine(line: string, isNoise: LinePattern): boolean {
  return isNoise(line.replace(/\r?\n?$/, ''));
}
