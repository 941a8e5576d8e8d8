import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Contender, contenders } from './contenders';
import { summariseProfile } from './profile';
import { runContender, type Workshop } from './run-contender';
import type { Scenario } from './scenario';

/** Runs our rows once more under V8's profiler and prints where the main thread's time goes. */
export async function profileScenario({ entries }: Scenario, workshop: Workshop, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const entry of entries) {
    const { needsFunction }: Contender = contenders[entry.contender];
    if (!needsFunction) continue;
    const place = mkdtempSync(join(resolve(folder), 'profile-'));
    const { failed } = await runContender(entry, { ...workshop, profile: place });
    const [file] = readdirSync(place);
    if (failed !== undefined || file === undefined) {
      console.log(`\nProfile of ${entry.name}: ${failed ?? 'none was written'}`);
      continue;
    }
    const parts = summariseProfile(join(place, file), join(workshop.built.function, 'index.js'));
    const total = [...parts.values()].reduce((sum, ms) => sum + ms, 0);
    console.log(
      `\nProfile of ${entry.name}, the main thread's ${(total / 1000).toFixed(2)} s by part (${join(place, file)})`,
    );
    for (const [part, ms] of parts)
      if (ms >= total / 200) console.log(`  ${((100 * ms) / total).toFixed(1).padStart(5)} %  ${part}`);
  }
}
