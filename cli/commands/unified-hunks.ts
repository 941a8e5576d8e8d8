import { type StructuredPatchHunk, structuredPatch } from 'diff';

export type Hunk = StructuredPatchHunk;

/** Lines around a change, as in diff. */
const context = 3;

/** Most lines that the shortest difference is looked for with: the time and memory for that grow with their square. */
const longestSearch = 1000;

const noNewline = '\\ No newline at end of file';

/**
 * The difference of two texts as hunks of a unified diff: always right, always the same, and shortest unless it is long.
 * A long one is put together around lines that occur once in each text, as nearly all lines of a log do.
 */
export function unifiedHunks(before: string, after: string): Hunk[] {
  const options = { context, maxEditLength: longestSearch };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  return patch?.hunks ?? hunksBetweenBlocks(splitLines(before), splitLines(after));
}

/** Lines that both texts have: where they begin, by index, and how many they are. */
interface Block {
  readonly old: number;
  readonly now: number;
  readonly length: number;
}

/** A hunk for whatever lies between two blocks, with the lines beside it. */
function hunksBetweenBlocks(old: readonly string[], now: readonly string[]): Hunk[] {
  const blocks = commonBlocks(old, now);
  return blocks.slice(1).flatMap((block, at): Hunk[] => {
    const before = blocks[at] ?? block;
    const [oldEnd, nowEnd] = [before.old + before.length, before.now + before.length];
    if (oldEnd === block.old && nowEnd === block.now) return [];
    // The hunk before has shown the first lines of a block between two hunks.
    const shown = at === 0 ? 0 : Math.min(context, before.length);
    const head = Math.min(context, before.length - shown);
    const lines = [
      ...marked(' ', old.slice(oldEnd - head, oldEnd)),
      ...marked('-', old.slice(oldEnd, block.old)),
      ...marked('+', now.slice(nowEnd, block.now)),
      ...marked(' ', old.slice(block.old, block.old + Math.min(context, block.length))),
    ];
    const count = (mark: string) => lines.filter((line) => line.startsWith(mark) || line.startsWith(' ')).length;
    const starts = { oldStart: oldEnd - head + 1, newStart: nowEnd - head + 1 };
    return [{ ...starts, oldLines: count('-'), newLines: count('+'), lines }];
  });
}

/** The lines around those in which the texts meet; the first and the last block may be empty. */
function commonBlocks(old: readonly string[], now: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let [oldEnd, nowEnd] = [0, 0];
  const isSame = (oldAt: number, nowAt: number) => oldAt < old.length && old[oldAt] === now[nowAt];
  for (const at of [{ old: 0, now: 0 }, ...meetings(old, now), { old: old.length, now: now.length }]) {
    // The block before has grown over it.
    if (at.old < oldEnd || at.now < nowEnd) continue;
    const room = Math.min(at.old - oldEnd, at.now - nowEnd);
    let back = 0;
    while (back < room && isSame(at.old - back - 1, at.now - back - 1)) back += 1;
    let ahead = 0;
    while (isSame(at.old + ahead, at.now + ahead)) ahead += 1;
    blocks.push({ old: at.old - back, now: at.now - back, length: back + ahead });
    [oldEnd, nowEnd] = [at.old + ahead, at.now + ahead];
  }
  return blocks;
}

type Meeting = Pick<Block, 'old' | 'now'>;

interface Way extends Meeting {
  readonly before: Way | undefined;
}

/** The most lines that occur once in each text and stand in the same order in both (patience diff). */
function meetings(old: readonly string[], now: readonly string[]): Meeting[] {
  const oldPlaces = placesOfSingles(old);
  // The ends of increasing sequences, the best of each length, each with its way back.
  const ends: Way[] = [];
  for (const [line, place] of placesOfSingles(now)) {
    const oldPlace = oldPlaces.get(line);
    if (oldPlace === undefined) continue;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.old ?? 0) < oldPlace) low = middle + 1;
      else high = middle;
    }
    ends[low] = { old: oldPlace, now: place, before: ends[low - 1] };
  }
  const found: Meeting[] = [];
  for (let end = ends.at(-1); end !== undefined; end = end.before) found.push(end);
  return found.reverse();
}

/** The indices of lines that occur once, in order. */
function placesOfSingles(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number | undefined>();
  for (const [at, line] of lines.entries()) places.set(line, places.has(line) ? undefined : at);
  return new Map([...places].filter((place): place is [string, number] => place[1] !== undefined));
}

/** Lines with their ends; the last one may have none. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) => (line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, noNewline]));
}
