import { writeFileSync } from 'node:fs';
import type { Figures } from '../assignment';

/** Hands the figures to the benchmark and ends the process: what idle connections would wait for is not part of the work. */
export function reportFigures(figures: Figures): never {
  writeFileSync(3, `${JSON.stringify(figures)}\n`);
  process.exit();
}
