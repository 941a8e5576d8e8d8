import CliTable from 'cli-table3';
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

/** The columns that are shown, with their widths as the table library takes them. */
interface Layout<Row> {
  readonly columns: readonly Column<Row>[];
  readonly widths: readonly number[];
}

/** Rows that are laid out together: the widths follow from the first batch. */
const batchSize = 500;

/** Rows that are handed to the library at once: its time grows with their square. */
const renderedRows = 25;

const narrowestText = 10;

/** What the library puts around a cell's text. */
const padding = 2;

/** How much wider the cells of later batches may be: a time with milliseconds has four characters more than one without. */
const growth = 4;

const withoutTop = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '' };
const withoutBottom = { bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' };

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
    const isFirst = layout === undefined;
    layout ??= layOut(terminal, columns, batch, isLast);
    for (let at = 0; at < batch.length; at += renderedRows) {
      const end = at + renderedRows;
      const [isTop, isBottom] = [isFirst && at === 0, isLast && end >= batch.length];
      await print(terminal.out, `${renderRows(terminal, layout, batch.slice(at, end), isTop, isBottom)}\n`);
    }
    batch = [];
  };
  for await (const row of rows) {
    if (batch.length === batchSize) await flush(false);
    batch.push(row);
    count += 1;
  }
  if (count > 0) await flush(true);
  return count;
}

/** A line for a command's help. @param table what the columns are of */
export function leftOutColumns<Row>(table: string, columns: readonly Column<Row>[]): string {
  const heads = inOrderOfLeaving(columns).map(({ head }) => head);
  return `On a narrow terminal, ${table} leaves out columns in this order: ${heads.join(', ')}.`;
}

function inOrderOfLeaving<Row>(columns: readonly Column<Row>[]): Column<Row>[] {
  return columns.filter(({ leftOut }) => leftOut !== undefined).sort((a, b) => (a.leftOut ?? 0) - (b.leftOut ?? 0));
}

function renderRows<Row>(
  { colors }: Terminal,
  { columns, widths }: Layout<Row>,
  rows: readonly Row[],
  isFirst: boolean,
  isLast: boolean,
): string {
  const lines = (text: string, at: number) => wrap(text, (widths[at] ?? 0) - padding);
  const table = new CliTable({
    colWidths: [...widths],
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: { head: [], border: [], compact: true },
    head: isFirst ? columns.map(({ head }, at) => lines(head, at).map(colors.bold).join('\n')) : [],
    chars: { ...(isFirst ? {} : withoutTop), ...(isLast ? {} : withoutBottom) },
  });
  for (const row of rows)
    table.push(
      columns.map(({ cell, color }, at) =>
        lines(printable(cell(row)), at)
          .map((line) => (color === undefined || line === '' ? line : color(line, row)))
          .join('\n'),
      ),
    );
  return table.toString();
}

function layOut<Row>(
  { columns: available = Number.POSITIVE_INFINITY }: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  areAll: boolean,
): Layout<Row> {
  const measured = columns.map((column) => {
    const texts = rows.map((row) => widthOf(printable(column.cell(row))));
    const natural = texts.reduce((a, b) => Math.max(a, b), widthOf(column.head)) + padding;
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

/**
 * Lines no wider than the width, broken between words where possible. The library's own wrapping takes the codes of
 * colours for text, or leaves out the rest of a long word.
 */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (widthOf(line + word.trimEnd()) <= width) {
      line += word;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (widthOf(line.trimEnd()) > width) {
      let end = Math.min(line.length, width);
      while (end > 1 && widthOf(line.slice(0, end)) > width) end -= 1;
      // Never between the halves of a surrogate pair.
      if (/[\ud800-\udbff]$/.test(line.slice(0, end)) && end > 1) end -= 1;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  return [...lines, line].map((part) => part.trimEnd());
}

/** The library knows how wide characters are on a terminal: a table of this one cell has the width. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  const table = new CliTable({ style: { head: [], border: [] } });
  table.push([text]);
  return table.width - 2 - padding;
}
