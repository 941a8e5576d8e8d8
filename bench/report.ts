import type { RunResult } from './run-contender';
import type { Entry } from './scenarios';

/** A row of a scenario, and its runs in the order of the rounds. */
export interface MeasuredRow extends Pick<Entry, 'name' | 'goals'> {
  readonly runs: readonly RunResult[];
}

const seconds = (ms: number) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`);
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

const columns = [
  ['wallMs', 'wall', seconds],
  ['cpuMs', 'CPU', seconds],
  ['peakBytes', 'peak memory', megabytes],
  ['wireBytes', 'on the wire', megabytes],
  ['storedBytes', 'stored', megabytes],
  ['serverLoad', 'servers busy', percent],
] as const;

type Measure = (typeof columns)[number][0];

/** What has a ratio. */
const compared: readonly Measure[] = ['wallMs', 'cpuMs', 'peakBytes', 'wireBytes'];

/** A table in Markdown: the medians of every row, and the ratios of the first row to the others, with their goals. */
export function report(rows: readonly MeasuredRow[]): string {
  const cells = rows.map((row) => [row.name, ...columns.map(([figure, , show]) => cellOf(figure, show, row, rows[0]))]);
  const heads = [`(${rows[0]?.name} / this)`, ...columns.map(([, head]) => head)];
  const widths = heads.map((head, at) => Math.max(head.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const lines = [heads, widths.map((width) => '-'.repeat(width)), ...cells];
  return lines.map((line) => `\n| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`).join('');
}

function cellOf(
  figure: Measure,
  show: (value: number) => string,
  { runs, goals = {} }: MeasuredRow,
  first: MeasuredRow | undefined,
): string {
  const middle = median(runs.flatMap((run) => run[figure] ?? []));
  if (middle === undefined) return '';
  const ratio =
    runs === first?.runs || !compared.includes(figure) ? undefined : ratioOf(figure, first?.runs ?? [], runs);
  if (ratio === undefined) return show(middle);
  const goal = figure in goals ? `, goal ${goals[figure as keyof typeof goals]}` : '';
  return `${show(middle)} (${ratio.toFixed(3)}${goal})`;
}

/**
 * The ratio within each round, because a machine that is slow for a while slows both rows; then the median of these.
 * Undefined if no round has both figures.
 */
function ratioOf(measure: Measure, of: readonly RunResult[], to: readonly RunResult[]): number | undefined {
  return median(
    of.flatMap((run, round) => {
      const [a, b] = [run[measure], to[round]?.[measure]];
      return a === undefined || b === undefined || b === 0 ? [] : [a / b];
    }),
  );
}

/** The middle value; of an even number of values the higher one of the two in the middle. */
function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
