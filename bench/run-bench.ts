import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildAll } from './build';
import { contenders, unavailableReason } from './contenders';
import { inspectMachine, type Machine } from './machine';
import { measureScenario, type ScenarioResult } from './measure-scenario';
import { profileScenario } from './profile';
import { report } from './report';
import type { RunResult } from './run-contender';
import { type Entry, quickVersion, type Scenario, scenarios } from './scenarios';
import { startServers } from './start-servers';

/** The command line's options. */
export interface BenchOptions {
  readonly scenario?: readonly string[];
  readonly contender?: readonly string[];
  readonly rounds: number;
  readonly quick?: true;
  readonly json: string;
  /** False: the contenders run in the Node that runs this process. */
  readonly install: boolean;
  readonly profile?: string;
}

const cache = join(__dirname, '..', 'node_modules', '.cache', 'bench');

/** Builds, measures, prints the tables and writes the figures. Sets the exit code to 1 if a contender failed unexpectedly. */
export async function runBench(options: BenchOptions): Promise<void> {
  const machine = inspectMachine(options.install ? cache : undefined);
  console.log(describe(machine));
  const folder = mkdtempSync(join(tmpdir(), 'collector-bench-'));
  try {
    const built = await buildAll(folder);
    const servers = await startServers(built.programs, folder, machine);
    const runOptions = { machine, built, servers, folder, verify: options.quick ?? false };
    const results: ScenarioResult[] = [];
    try {
      for (const scenario of selectScenarios(options, machine)) {
        console.log(`\n${scenario.name}: ${scenario.title}`);
        const result = await measureScenario(scenario, options.quick ? 1 : options.rounds, runOptions, printRun);
        console.log(report(result));
        results.push(result);
        if (options.profile !== undefined) await profileScenario(scenario, runOptions, options.profile);
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

/** The selected scenarios, without rows that cannot be measured on this machine. Prints why these are left out. */
function selectScenarios({ scenario: names, contender: rows, quick }: BenchOptions, machine: Machine): Scenario[] {
  const printed = new Set<string>();
  return scenarios
    .filter(({ name }) => names?.includes(name) ?? true)
    .map((scenario) => (quick ? quickVersion(scenario) : scenario))
    .map((scenario) => ({
      ...scenario,
      entries: scenario.entries.filter(({ name, contender }) => {
        const reason = unavailableReason(contenders[contender], machine);
        if (reason !== undefined && !printed.has(contender)) console.log(`without ${contender}: ${reason}`);
        if (reason !== undefined) printed.add(contender);
        return reason === undefined && (rows?.includes(name) ?? true);
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
    ? 'the client has a core to itself, both servers share another'
    : 'client and servers share all cores: no taskset, or only one core';
  return `Node ${nodeVersion}; ${processor}, ${cores} cores, ${memory}; ${pinning}`;
}
