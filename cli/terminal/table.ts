import CliTable from 'cli-table3';
import { printable } from './printable';
import { print, type Terminal } from './terminal';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** The columns that give way, all alike, where the terminal is too narrow; their text is then wrapped. */
  readonly gives?: boolean;
  /** Colours a cell; given the text as it will be shown. */
  readonly color?: (text: string, row: Row) => string;
}

/** Rows that are laid out together: enough to fit the widths to, few enough to keep. */
const batchSize = 500;
const narrowest = 12;

/** What the library puts around a cell's text. */
const padding = 2;

const withoutTop = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '' };
const withoutBottom = { bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' };

/**
 * Prints rows as a table that fits the terminal, as they come: the widths follow from the first rows, and what is wider
 * later is wrapped. Cell texts may come from anywhere; they cannot steer the terminal.
 * @returns the number of rows; without any, nothing is printed
 */
export async function printTable<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: AsyncIterable<Row> | Iterable<Row>,
): Promise<number> {
  const bold = (head: string, width: number) => wrap(head, width).map(terminal.colors.bold).join('\n');
  let count = 0;
  let batch: Row[] = [];
  let widths: number[] | undefined;
  const flush = async (isLast: boolean) => {
    const texts = batch.map((row) => columns.map((column) => printable(column.cell(row))));
    const isFirst = widths === undefined;
    const fitted = widths ?? fittedWidths(terminal, columns, texts, isLast);
    widths = fitted;
    const table = new CliTable({
      colWidths: [...fitted],
      colAligns: columns.map(({ align }) => align ?? 'left'),
      style: { head: [], border: [], compact: true },
      head: isFirst ? columns.map(({ head }, at) => bold(head, (fitted[at] ?? 0) - padding)) : [],
      chars: { ...(isFirst ? {} : withoutTop), ...(isLast ? {} : withoutBottom) },
    });
    batch.forEach((row, index) => {
      const cell = (at: number) => wrap(texts[index]?.[at] ?? '', (fitted[at] ?? 0) - padding);
      table.push(
        columns.map(({ color }, at) =>
          cell(at)
            .map((line) => colored(line, row, color))
            .join('\n'),
        ),
      );
    });
    const lines = table.toString();
    if (lines !== '') await print(terminal.out, `${lines}\n`);
    batch = [];
  };
  let held: Row | undefined;
  for await (const row of rows) {
    if (batch.length === batchSize) await flush(false);
    batch.push(row);
    held = row;
    count++;
  }
  if (held !== undefined) await flush(true);
  return count;
}

function colored<Row>(text: string, row: Row, color: Column<Row>['color']): string {
  return color === undefined || text === '' ? text : color(text, row);
}

/** Widths with padding, as the table library takes them. */
function fittedWidths<Row>(
  { columns: available }: Terminal,
  columns: readonly Column<Row>[],
  texts: readonly string[][],
  isAll: boolean,
): number[] {
  const natural = columns.map(({ head }, at) => naturalWidth([head, ...texts.map((row) => row[at] ?? '')]));
  // Later rows are not known yet: figures may grow a little.
  const widths = natural.map((width, at) => (isAll || columns[at]?.gives === true ? width : width + 2));
  if (available === undefined) return widths;
  const giving = widths.map((_, at) => at).filter((at) => columns[at]?.gives === true);
  const excess = () => widths.reduce((sum, width) => sum + width + 1, 1) - available;
  while (excess() > 0) {
    const widest = giving.reduce((best, at) => ((widths[at] ?? 0) > (widths[best] ?? 0) ? at : best), giving[0] ?? 0);
    const width = widths[widest] ?? 0;
    if (width <= narrowest) break;
    widths[widest] = width - 1;
  }
  return widths;
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
      while (end > 1 && widthOf(line.slice(0, end)) > width) end--;
      // Never between the halves of a surrogate pair.
      if (/[\ud800-\udbff]$/.test(line.slice(0, end)) && end > 1) end--;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  return [...lines, line].map((part) => part.trimEnd());
}

function widthOf(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : naturalWidth([text]) - padding;
}

/** The library knows how wide characters are on a terminal: a table of the one column has the width. */
function naturalWidth(texts: readonly string[]): number {
  const table = new CliTable({ style: { head: [], border: [] } });
  for (const text of texts) table.push([text]);
  return table.width - 2;
}
