import { isGap, isMissing, type JoinedLog, type JoinedRun, linesBefore } from '../archive/join-logs';
import type { Remark } from '../archive/recorded-object';
import { formatCount, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import type { Column } from '../terminal/table';
import type { Terminal } from '../terminal/terminal';

/** A run with what its records say of the log that lies there. */
export interface Remarked {
  readonly remark: Remark | undefined;
}

/** How each log follows the one before it. */
export function seamColumns({ colors }: Pick<Terminal, 'colors'>): Column<JoinedRun>[] {
  const numbers = (of: (joined: JoinedLog) => number | undefined) => (joined: JoinedRun) =>
    isMissing(joined) ? '' : (of(joined)?.toLocaleString('en-US') ?? '');
  return [
    { head: 'Run', cell: ({ run }) => formatTime(run) },
    { head: 'Lines', cell: numbers(({ link }) => link.lines), align: 'right' },
    { head: 'New', cell: numbers(({ link }) => link.seam.added), align: 'right' },
    { head: 'Shared', cell: numbers(({ link }) => link.seam.shared), align: 'right' },
    {
      head: 'Seam',
      cell: (joined) => printable(seamText(joined)),
      color: (text, joined) =>
        isMissing(joined) || isGap(joined) || joined.head === undefined ? colors.yellow(text) : text,
      wraps: true,
      narrowest: 30,
    },
  ];
}

function seamText(joined: JoinedRun): string {
  if (isMissing(joined)) return `no log: ${joined.reason}`;
  const { link, problem } = joined;
  if (problem !== undefined) return problem;
  if (link.base === undefined) return 'first';
  const before = linesBefore(joined);
  const { kind, isAmbiguous, isShort } = link.seam;
  return [
    kind,
    ...(isAmbiguous ? ['at least: lines repeat'] : []),
    ...(isShort ? ['short'] : []),
    ...(before > 0 ? [`reaches back ${formatCount(before, 'line')}`] : []),
  ].join(', ');
}

/** The same as `--json` documents it. */
export async function* summarizeSeams(joined: AsyncIterable<JoinedRun & Remarked>): AsyncGenerator<object> {
  for await (const one of joined) {
    if (isMissing(one)) {
      yield { run: one.run, seam: null, reason: one.reason };
      continue;
    }
    const { run, key, link, problem } = one;
    yield {
      run,
      key,
      seam: link.base === undefined && problem === undefined ? 'first' : link.seam.kind,
      lines: link.lines,
      new: link.seam.added,
      shared: link.seam.shared,
      reachesBack: linesBefore(one),
      isAtLeast: link.seam.isAmbiguous,
      isShort: link.seam.isShort,
      base: link.base ?? null,
      unchangedSince: link.unchangedSince ?? null,
      reason: problem ?? null,
      remark: one.remark?.text ?? null,
    };
  }
}
