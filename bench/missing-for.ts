import type { Contender } from './contenders';
import type { Machine } from './machine';

/** Why a contender cannot take part here; undefined if it can. */
export function missingFor({ program, compression }: Contender, machine: Machine): string | undefined {
  if (program === 'rclone') return machine.rclone === undefined ? 'rclone is not found' : undefined;
  if (program.endsWith('.py')) return machine.python === undefined ? 'Python with boto3 is not found' : undefined;
  if (compression === 'zstd' && !machine.hasZstd) return `Node ${machine.nodeVersion} has no zstd`;
  return undefined;
}
