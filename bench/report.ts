import type { RunResult } from './run-contender';
import type { Entry, Measure, Scenario } from './scenarios';

/** A row of a scenario, and its runs in the order of the rounds. */
export interface MeasuredRow extends Pick<Entry, 'name' | 'goals'> {
  readonly runs: readonly RunResult[];
}

/** What is written to the file of all figures. */
export type ScenarioResult = ReturnType<typeof resultOf>;

const seconds = (ms: number) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`);
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

const compared = [
  ['wallMs', 'wall', seconds],
  ['cpuMs', 'CPU', seconds],
  ['peakBytes', 'peak memory', megabytes],
  ['wireBytes', 'on the wire', megabytes],
] as const;
const columns = [...compared, ['storedBytes', 'stored', megabytes], ['serverLoad', 'servers busy', percent]] as const;

/** Every row with its runs, their medians, and the ratios of the first row to it. */
export function resultOf({ name, title }: Pick<Scenario, 'name' | 'title'>, rows: readonly MeasuredRow[]) {
  const entries = rows.map(({ name, goals, runs }, index) => ({
    name,
    failed: runs.find(({ failed }) => failed !== undefined)?.failed,
    runs,
    medians: Object.fromEntries(columns.map(([figure]) => [figure, median(runs.flatMap((run) => run[figure] ?? []))])),
    ratios: index === 0 ? {} : ratiosOf(rows[0]?.runs ?? [], runs),
    goals,
  }));
  return { name, title, entries };
}

function ratiosOf(of: readonly RunResult[], to: readonly RunResult[]): Partial<Record<Measure, number>> {
  return Object.fromEntries(compared.map(([figure]) => [figure, ratioOf(figure, of, to)]));
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

/** The middle value. For an even number of values it is the mean of the two in the middle; for none it is undefined. */
function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return lower === undefined || upper === undefined ? undefined : (lower + upper) / 2;
}

/** One scenario as text: the medians of every row, then the ratios of the first row to the others, with their goals. */
export function report({ entries }: ScenarioResult): string {
  const figures = entries.map(({ name, failed, medians }) => [
    failed === undefined ? name : `${name} failed: ${failed}`,
    ...columns.map(([figure, , show]) => (medians[figure] === undefined ? '' : show(medians[figure]))),
  ]);
  const [first, ...others] = entries;
  const ratios = others.map(({ name, ratios: ofRow, goals = {} }) => [
    name,
    ...compared.map(([figure]) => verdict(ofRow[figure], goals[figure])),
  ]);
  return `\n${tableOf('', columns, figures)}\n${tableOf(`${first?.name} /`, compared, ratios)}`;
}

/** A table in Markdown, as the guide has it. */
function tableOf(
  corner: string,
  heads: readonly (readonly [string, string, ...unknown[]])[],
  rows: string[][],
): string {
  const names = [corner, ...heads.map(([, head]) => head)];
  const widths = names.map((name, at) =>
    Math.max(...[name, ...rows.map((row) => row[at] ?? '')].map((cell) => cell.length)),
  );
  const lines = [names, widths.map((width) => '-'.repeat(width)), ...rows];
  return lines.map((cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |\n`).join('');
}

function verdict(ratio: number | undefined, goal: number | undefined): string {
  if (ratio === undefined) return goal === undefined ? '' : 'no figure';
  if (goal === undefined) return ratio.toFixed(3);
  return `${ratio.toFixed(3)} <= ${goal}: ${ratio <= goal ? 'reached' : 'MISSED'}`;
}
