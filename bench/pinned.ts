import type { Machine } from './machine';

/** Puts a command on the core for its part, where the machine can: servers share one, the client has one alone. */
export function pinned(
  { isPinned }: Pick<Machine, 'isPinned'>,
  part: 'servers' | 'client',
  command: string,
  args: readonly string[],
): [command: string, args: string[]] {
  if (!isPinned) return [command, [...args]];
  return ['taskset', ['-c', part === 'servers' ? '0' : '1', command, ...args]];
}
