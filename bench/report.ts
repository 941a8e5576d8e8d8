import Table from 'cli-table3';
import type { ScenarioResult } from './measure-scenario';
import type { Measure } from './scenarios';

const columns: readonly [
  head: string,
  measure: Measure | 'storedBytes' | 'serverLoad',
  show: (value: number) => string,
][] = [
  ['wall', 'wallMs', (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`)],
  ['CPU', 'cpuMs', (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`)],
  ['peak memory', 'peakBytes', (bytes) => `${(bytes / 1e6).toFixed(0)} MB`],
  ['on the wire', 'wireBytes', (bytes) => `${(bytes / 1e6).toFixed(1)} MB`],
  ['stored', 'storedBytes', (bytes) => `${(bytes / 1e6).toFixed(1)} MB`],
  ['servers busy', 'serverLoad', (load) => `${(load * 100).toFixed(0)} %`],
];

const measureNames: Record<Measure, string> = {
  wallMs: 'wall',
  wallMsPerCluster: 'wall per cluster',
  cpuMs: 'CPU',
  peakBytes: 'peak memory',
  wireBytes: 'bytes on the wire',
};

/** One scenario as text: a row per contender, then the ratios with their goals. */
export function report({ title, rounds, entries, comparisons }: ScenarioResult): string {
  const shown = columns.filter(([, measure]) => entries.some(({ medians }) => (medians[measure] ?? 0) > 0));
  const style = { head: [], border: [] };
  const table = new Table({
    head: ['', ...shown.map(([head]) => head)],
    style,
    colAligns: ['left', ...shown.map(() => 'right' as const)],
  });
  for (const { name, medians, failed } of entries) {
    if (failed !== undefined) table.push([name, { content: `failed: ${failed}`.slice(0, 120), colSpan: shown.length }]);
    else
      table.push([
        name,
        ...shown.map(([, measure, show]) => (medians[measure] === undefined ? '' : show(medians[measure]))),
      ]);
  }
  const ratios = new Table({ head: ['ratio', 'measured', 'goal', ''], style });
  for (const { measure, of, to, ratio, atMost, isReached } of comparisons) {
    const goal = atMost === undefined ? '' : `<= ${atMost}`;
    const verdict = isReached === undefined ? '' : isReached ? 'reached' : 'MISSED';
    ratios.push([`${measureNames[measure]}: ${of} / ${to}`, ratio?.toFixed(3) ?? 'no figure', goal, verdict]);
  }
  return `\n${title}\nmedians of ${rounds} round${rounds === 1 ? '' : 's'}\n${table}\n${comparisons.length > 0 ? ratios : ''}`;
}
