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
interface Layout<Row> {
  readonly columns: readonly Column<Row>[];
  readonly widths: readonly number[];
}

/** Rows that are laid out together: the widths follow from the first batch. */
const batchSize = 500;

const narrowestText = 10;

/** Spaces around a cell's text. */
const padding = 2;

/** How much wider the cells of later batches may be: a time with milliseconds has four characters more than one without. */
const growth = 4;

/**
 * Prints rows as a table that fits the terminal, batch by batch. Control characters in cells are written out.
 * @returns the number of rows; without any, nothing is printed
 */
export async function printTable<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: AsyncIterable<Row> | Iterable<Row>,
): Promise<number> {
  let count = 0;
  let batch: Row[] = [];
  let layout: Layout<Row> | undefined;
  const flush = async (isLast: boolean) => {
    const known = layout ?? layOut(terminal, columns, batch, isLast);
    const lines = [
      ...(layout === undefined ? headLines(terminal, known) : []),
      ...batch.flatMap((row) => rowLines(known, row)),
      ...(isLast ? [ruler(known, '└┴┘')] : []),
    ];
    layout = known;
    batch = [];
    await print(terminal.out, `${lines.join('\n')}\n`);
  };
  for await (const row of rows) {
    if (batch.length === batchSize) await flush(false);
    batch.push(row);
    count += 1;
  }
  if (count > 0) await flush(true);
  return count;
}

function inOrderOfLeaving<Row>(columns: readonly Column<Row>[]): Column<Row>[] {
  return columns.filter(({ leftOut }) => leftOut !== undefined).sort((a, b) => (a.leftOut ?? 0) - (b.leftOut ?? 0));
}

function headLines<Row>({ colors }: Terminal, layout: Layout<Row>): string[] {
  const heads = layout.columns.map(({ head }) => head);
  return [ruler(layout, '┌┬┐'), ...cellLines(layout, heads, colors.bold), ruler(layout, '├┼┤')];
}

function rowLines<Row>(layout: Layout<Row>, row: Row): string[] {
  const texts = layout.columns.map(({ cell }) => printable(cell(row)));
  return cellLines(layout, texts, (line, { color }) => color?.(line, row) ?? line);
}

/** The lines of one row. @param paint colours a line of a cell that is not empty */
function cellLines<Row>(
  { columns, widths }: Layout<Row>,
  texts: readonly string[],
  paint: (line: string, column: Column<Row>) => string,
): string[] {
  const cells = columns.map((column, at) => {
    const width = (widths[at] ?? 0) - padding;
    const lines = wrap(texts[at] ?? '', width);
    return { column, width, lines };
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
function ruler<Row>({ widths }: Layout<Row>, corners: string): string {
  const [left, between, right] = corners;
  return `${left}${widths.map((width) => '─'.repeat(width)).join(between)}${right}`;
}

function layOut<Row>(
  { columns: available = Number.POSITIVE_INFINITY }: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  areAll: boolean,
): Layout<Row> {
  const measured = columns.map((column) => {
    const texts = rows.map((row) => stringWidth(printable(column.cell(row))));
    const natural = texts.reduce((a, b) => Math.max(a, b), stringWidth(column.head)) + padding;
    const width = areAll || column.wraps === true ? natural : natural + growth;
    const narrowest = (column.narrowest ?? narrowestText) + padding;
    return { column, width, least: column.wraps === true ? Math.min(width, narrowest) : width };
  });
  let shown = measured;
  for (const leaving of inOrderOfLeaving(columns)) {
    if (sumWidths(shown.map(({ least }) => least)) <= available) break;
    shown = shown.filter(({ column }) => column !== leaving);
  }
  const widths = shown.map(({ width }) => width);
  const mayShrink = (at: number) => (widths[at] ?? 0) > (shown[at]?.least ?? 0);
  for (let excess = sumWidths(widths) - available; excess > 0; excess -= 1) {
    const [widest] = [...widths.keys()].filter(mayShrink).sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { columns: shown.map(({ column }) => column), widths };
}

/** Width of a table with these columns: a border before each, and one behind the last. */
function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 1, 1);
}

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
    line = word;
    while (stringWidth(line.trimEnd()) > width) {
      let end = Math.min(line.length, width);
      while (end > 1 && stringWidth(line.slice(0, end)) > width) end -= 1;
      // Never between the halves of a surrogate pair.
      if (/[\ud800-\udbff]$/.test(line.slice(0, end)) && end > 1) end -= 1;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  return [...lines, line].map((part) => part.trimEnd());
}
