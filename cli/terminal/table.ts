import stringWidth from 'string-width';
import { printable } from './printable';
import { print, type Terminal } from './terminal';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** Where the terminal is too narrow, the widest of these columns become narrower, and their text is wrapped. */
  readonly wraps?: boolean;
  /** Least width of a column that wraps, in characters; left out: 10. */
  readonly narrowest?: number;
  /** Where that is not enough, columns with a number are left out, 1 first. */
  readonly leftOut?: number;
  /** Colours a cell; receives the text as it will be shown. */
  readonly color?: (text: string, row: Row) => string;
}

/** The columns that are shown, with their widths between the borders. */
type Layout<Row> = readonly { readonly column: Column<Row>; readonly width: number }[];

const narrowestText = 10;

/** Spaces around a cell's text. */
const padding = 2;

/**
 * Prints rows as a table that fits the terminal. Control characters in cells are written out.
 * @returns the number of rows; without any, nothing is printed
 */
export async function printTable<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: AsyncIterable<Row> | Iterable<Row>,
): Promise<number> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  if (all.length === 0) return 0;
  const layout = layOut(terminal, columns, all);
  const head = cellLines(layout, (column) => column.head, terminal.colors.bold);
  await print(terminal.out, `${[ruler(layout, '┌┬┐'), ...head, ruler(layout, '├┼┤')].join('\n')}\n`);
  // Row by row: the lines of a long table are never in memory together.
  for (const row of all) {
    const lines = cellLines(
      layout,
      ({ cell }) => printable(cell(row)),
      (line, { color }) => color?.(line, row) ?? line,
    );
    await print(terminal.out, `${lines.join('\n')}\n`);
  }
  await print(terminal.out, `${ruler(layout, '└┴┘')}\n`);
  return all.length;
}

/** The lines of one row. @param paint colours a line of a cell that is not empty */
function cellLines<Row>(
  layout: Layout<Row>,
  textOf: (column: Column<Row>) => string,
  paint: (line: string, column: Column<Row>) => string,
): string[] {
  const cells = layout.map(({ column, width: outer }) => {
    const width = outer - padding;
    return { column, width, lines: wrap(textOf(column), width) };
  });
  const height = cells.reduce((most, { lines }) => Math.max(most, lines.length), 1);
  return Array.from({ length: height }, (_, at) => {
    const shown = cells.map(({ column, width, lines: { [at]: line = '' } }) => {
      const space = ' '.repeat(Math.max(0, width - stringWidth(line)));
      const text = line === '' ? '' : paint(line, column);
      return column.align === 'right' ? ` ${space}${text} ` : ` ${text}${space} `;
    });
    return `│${shown.join('│')}│`;
  });
}

/** @param corners the characters at its beginning, between columns, and at its end */
function ruler<Row>(layout: Layout<Row>, corners: string): string {
  const [left, between, right] = corners;
  return `${left}${layout.map(({ width }) => '─'.repeat(width)).join(between)}${right}`;
}

function layOut<Row>(
  { columns: available = Number.POSITIVE_INFINITY }: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Layout<Row> {
  const measured = columns.map((column) => {
    const texts = rows.map((row) => stringWidth(printable(column.cell(row))));
    const width = texts.reduce((a, b) => Math.max(a, b), stringWidth(column.head)) + padding;
    const narrowest = (column.narrowest ?? narrowestText) + padding;
    return { column, width, least: column.wraps === true ? Math.min(width, narrowest) : width };
  });
  let shown = measured;
  const leaving = columns.filter(({ leftOut }) => leftOut !== undefined);
  for (const next of leaving.sort((a, b) => (a.leftOut ?? 0) - (b.leftOut ?? 0))) {
    if (sumWidths(shown.map(({ least }) => least)) <= available) break;
    shown = shown.filter(({ column }) => column !== next);
  }
  for (let excess = sumWidths(shown.map(({ width }) => width)) - available; excess > 0; excess -= 1) {
    const [widest] = shown.filter(({ width, least }) => width > least).sort((a, b) => b.width - a.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return shown;
}

/** Width of a table with these columns: a border before each, and one behind the last. */
function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 1, 1);
}

/** What a reader sees as one character. Intl.Segmenter takes time that grows with the square of the length. */
const characters = /\p{RI}{2}|.(?:[\p{M}\p{EMod}]|\u200d.)*/gsu;

/** Lines no wider than the width, broken between words where possible. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (stringWidth(line + word.trimEnd()) <= width) {
      line += word;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const character of word.match(characters) ?? []) {
      if (line !== '' && stringWidth(line + character.trimEnd()) > width) {
        lines.push(line);
        line = '';
      }
      line += character;
    }
  }
  return [...lines, line].map((part) => part.trimEnd());
}
