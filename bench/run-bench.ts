import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildAll } from './build';
import { contenders } from './contenders';
import { lookAtMachine, type Machine } from './machine';
import { measureScenario, type ScenarioResult } from './measure-scenario';
import { missingFor } from './missing-for';
import { profileScenario } from './profile-scenario';
import type { BenchOptions } from './program';
import { report } from './report';
import type { RunResult } from './run-contender';
import type { Entry, Scenario } from './scenario';
import { quickly, scenarios } from './scenarios';
import { startServers } from './start-servers';

const cache = join(__dirname, '..', 'node_modules', '.cache', 'bench');

/** Builds, measures, prints and writes. */
export async function runBench(options: BenchOptions): Promise<void> {
  const machine = lookAtMachine(options.install ? cache : undefined);
  console.log(describe(machine));
  const folder = mkdtempSync(join(tmpdir(), 'collector-bench-'));
  try {
    const built = await buildAll(folder);
    const servers = await startServers(built.programs, folder, machine);
    const workshop = { machine, built, servers, folder, verify: options.quick ?? false };
    const results: ScenarioResult[] = [];
    try {
      for (const scenario of chosen(options, machine)) {
        console.log(`\n${scenario.name}: ${scenario.title}`);
        const result = await measureScenario(scenario, options.quick ? 1 : options.rounds, workshop, printRun);
        console.log(report(result));
        results.push(result);
        if (options.profile !== undefined) await profileScenario(scenario, workshop, options.profile);
      }
    } finally {
      servers.close();
    }
    mkdirSync(dirname(options.json), { recursive: true });
    writeFileSync(options.json, `${JSON.stringify({ date: new Date(), machine, results }, undefined, 2)}\n`);
    console.log(`\nAll figures: ${options.json}`);
    if (results.some(({ entries }) => entries.some(({ isExpected, failed }) => failed !== undefined && !isExpected)))
      process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The scenarios asked for, without rows that cannot be measured here. */
function chosen({ scenario: names, contender: rows, quick }: BenchOptions, machine: Machine): Scenario[] {
  const told = new Set<string>();
  return scenarios
    .filter(({ name }) => names?.includes(name) ?? true)
    .map((scenario) => (quick ? quickly(scenario) : scenario))
    .map((scenario) => ({
      ...scenario,
      entries: scenario.entries.filter(({ name, contender }) => {
        const missing = missingFor(contenders[contender], machine);
        if (missing !== undefined && !told.has(contender)) console.log(`without ${contender}: ${missing}`);
        if (missing !== undefined) told.add(contender);
        return missing === undefined && (rows?.includes(name) ?? true);
      }),
    }))
    .filter(({ entries }) => entries.length > 0);
}

function printRun({ name }: Entry, { failed, wallMs }: RunResult): void {
  console.log(`  ${name}: ${failed === undefined ? `${wallMs?.toFixed(0)} ms` : `failed: ${failed}`}`);
}

function describe({ nodeVersion, processor, cores, memoryBytes, isPinned }: Machine): string {
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  const pinning = isPinned
    ? 'client on a core of its own, both servers on another'
    : 'client and servers share all cores: no taskset, or only one core';
  return `Node ${nodeVersion}; ${processor}, ${cores} cores, ${memory}; ${pinning}`;
}
