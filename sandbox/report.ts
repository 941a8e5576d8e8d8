import { inDollars } from './prices';
import type { Line } from './try-steps';

export interface ReportFacts {
  readonly date: Date;
  readonly region: string;
  readonly commit: string;
}

/** The report, as a page of the repository. It does not name the account. */
export function reportOf(lines: readonly Line[], { date, region, commit }: ReportFacts): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const rows = lines.map(({ step, verdict, seenBy, minutes, dollars, found }) =>
    [step, verdict, seenBy, minutes.toFixed(1), inDollars(dollars), cell(found)].join(' | '),
  );
  const sum = (of: (line: Line) => number) => lines.reduce((total, line) => total + of(line), 0);
  return [
    `# Sandbox, ${date.toISOString().slice(0, 10)}, ${region}, commit ${commit}`,
    '',
    '| step | verdict | seen by | minutes | dollars, computed | what was seen |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    `| all | | | ${sum(({ minutes }) => minutes).toFixed(1)} | ${inDollars(sum(({ dollars }) => dollars))} | |`,
    '',
  ].join('\n');
}
