import { performance } from 'node:perf_hooks';
import { reportFigures } from './report-figures';

/** Times the loading of code, and of what it does first. */
export async function coldStart<Code>(load: () => Code, first: (code: Code) => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  const code = load();
  const readyMs = performance.now() - startedMs;
  await first(code);
  reportFigures({ readyMs, wallMs: performance.now() - startedMs });
}
