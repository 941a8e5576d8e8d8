import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { oneProcessorMiB } from '../../../infra/limits';

interface Audited {
  readonly found: Readonly<Record<string, number>>;
  readonly damage: number;
  /** Of processor time. */
  readonly seconds: number;
  /** Resident set at its height. */
  readonly mib: number;
}

/** Audits in a process of its own, with as much memory as the function has. */
async function auditHostile(name: string): Promise<Audited> {
  const execArgv = ['--import', 'tsx', `--max-old-space-size=${Math.floor(0.9 * oneProcessorMiB)}`];
  const child = fork(join(__dirname, 'audit-hostile.ts'), [name], { execArgv, stdio: 'ignore' });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the audit ended with ${code ?? signal}`);
  });
  const [audited] = (await Promise.race([once(child, 'message'), ended])) as [Audited];
  await ended.catch(() => undefined);
  return audited;
}

describe('a run record of 200 MiB that somebody made up', () => {
  it.each([
    ['empty lists in one line', { damaged: 1 }],
    ['empty lists, each in a line', { damaged: 1 }],
    ['lists in lists', { damaged: 1 }],
    ['line feeds', { damaged: 1 }],
    ['an end that never comes', { damaged: 1 }],
    ['a million outcomes', { contradiction: 1 }],
  ])(
    'is damage, and fits into the memory and the time of the function: %s',
    async (name, kinds) => {
      const { found, damage, seconds, mib } = await auditHostile(name);
      expect([found, damage >= 1]).toEqual([expect.objectContaining(kinds), true]);
      expect(seconds).toBeLessThan(400);
      expect(mib).toBeLessThan(oneProcessorMiB);
    },
    900_000,
  );
});
