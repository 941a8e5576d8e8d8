import { type StructuredPatchHunk, structuredPatch } from 'diff';

export type Hunk = StructuredPatchHunk;

/** Lines around a change, as in diff. */
const context = 3;

/** The time to find the shortest difference grows with the square of its length. */
const firstTryMs = 400;
const secondTryMs = 10_000;

const noNewline = '\\ No newline at end of file';

/**
 * The difference of two texts as hunks of a unified diff. It is always right, and shortest if that is found within
 * seconds. If the later text begins with the end of the earlier one, as a log does that has moved on, that overlap is used.
 */
export function unifiedHunks(before: string, after: string): Hunk[] {
  return (
    search(before, after, firstTryMs) ??
    overlapping(before, after) ??
    search(before, after, secondTryMs) ?? [replaced(before, after)]
  );
}

function search(before: string, after: string, timeout: number): Hunk[] | undefined {
  return structuredPatch('', '', before, after, undefined, undefined, { context, timeout })?.hunks;
}

/** The hunks if the later text begins with the end of the earlier one: lines removed at the head, and added at the end. */
function overlapping(before: string, after: string): Hunk[] | undefined {
  const old = splitLines(before);
  const now = splitLines(after);
  const common = overlap(old, now);
  const left = old.length - common;
  const came = now.length - common;
  if (common < 2 * context || left === 0 || came === 0) return undefined;
  return [
    hunk(1, 1, [...marked('-', old.slice(0, left)), ...marked(' ', now.slice(0, context))]),
    hunk(old.length - context + 1, common - context + 1, [
      ...marked(' ', now.slice(common - context, common)),
      ...marked('+', now.slice(common)),
    ]),
  ];
}

/** One hunk that replaces everything between the common first and the common last lines. */
function replaced(before: string, after: string): Hunk {
  const old = splitLines(before);
  const now = splitLines(after);
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let end = 0;
  while (end < shorter - head && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const start = Math.max(0, head - context);
  const stop = Math.min(end, context);
  return hunk(start + 1, start + 1, [
    ...marked(' ', old.slice(start, head)),
    ...marked('-', old.slice(head, old.length - end)),
    ...marked('+', now.slice(head, now.length - end)),
    ...marked(' ', now.slice(now.length - end, now.length - end + stop)),
  ]);
}

/** How many lines the end of `old` has in common with the beginning of `now` (Knuth, Morris and Pratt). */
function overlap(old: readonly string[], now: readonly string[]): number {
  const failure = new Int32Array(now.length);
  for (let at = 1, length = 0; at < now.length; at += 1) {
    while (length > 0 && now[at] !== now[length]) length = failure[length - 1] ?? 0;
    if (now[at] === now[length]) length += 1;
    failure[at] = length;
  }
  let length = 0;
  for (const line of old) {
    while (length > 0 && (length === now.length || line !== now[length])) length = failure[length - 1] ?? 0;
    if (line === now[length]) length += 1;
  }
  return length;
}

function hunk(oldStart: number, newStart: number, lines: string[]): Hunk {
  const count = (...marks: string[]) => lines.filter((line) => marks.includes(line[0] ?? '')).length;
  return { oldStart, newStart, oldLines: count(' ', '-'), newLines: count(' ', '+'), lines };
}

/** Lines with their ends; the last one may have none. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) => (line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, noNewline]));
}
