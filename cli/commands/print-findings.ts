import { isDamage } from '../../archive/format/finding';
import type { Remark } from '../archive/recorded-object';
import { atMost, formatCount, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type Ending, print, type Terminal } from '../terminal/terminal';

/** Most keys that are named of equal findings; of what nothing vouches for any more, somebody may need each. */
const namedKeys = 3;
const namedUnvouched = 20;

/**
 * Says on standard error what is wrong with what a command has read.
 * @param damaged how a command ends that has found damage
 * @returns how it ends with that
 */
export async function printRemarks(
  { err, errColors }: Pick<Terminal, 'err' | 'errColors'>,
  remarks: readonly Remark[],
  damaged: Ending = 'found',
): Promise<Ending> {
  await printFindings({ out: err, colors: errColors }, remarks);
  const kinds = remarks.flatMap(({ kind, acknowledged }) => (acknowledged === undefined ? kind : []));
  if (kinds.some(isDamage)) return damaged;
  return kinds.includes('unreadable') ? 'trouble' : 'ok';
}

/** Prints findings, equal ones together. Each key has a line of its own, however long, so that it can be copied. */
export async function printFindings(
  { out, colors }: Pick<Terminal, 'out' | 'colors'>,
  findings: readonly Remark[],
): Promise<void> {
  const groups = new Map<string, { readonly kind: string; readonly problem: string; readonly keys: string[] }>();
  for (const { kind, key, ...finding } of findings) {
    const problem = problemOf(finding);
    const name = JSON.stringify([kind, problem]);
    const group = groups.get(name) ?? { kind, problem, keys: [] };
    groups.set(name, group);
    group.keys.push(key);
  }
  for (const { kind, problem, keys } of groups.values()) {
    const color = isDamage(kind) ? colors.red : colors.yellow;
    const others = (more: number) => `… and ${formatCount(more, 'more key')}; verify --json has all`;
    const lines = atMost(kind === 'unvouched' ? namedUnvouched : namedKeys, keys, others);
    await print(out, `${color(kind)}: ${[problem, ...lines].map(printable).join('\n  ')}\n`);
  }
}

function problemOf({ problem, since, acknowledged }: Omit<Remark, 'kind' | 'key'>): string {
  const opened = since === undefined ? '' : `; open since the seal of ${formatTime(since)}`;
  return `${problem}${opened}${acknowledged === undefined ? '' : `; acknowledged: ${acknowledged}`}`;
}
