import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { buildAll } from './build';
import { type Contender, contenders } from './contenders';
import { inspectMachine, type Machine, succeeds } from './machine';
import { type MeasuredRow, report, resultOf, type ScenarioResult } from './report';
import { type RunOptions, type RunResult, runContender } from './run-contender';
import { quickVersion, type Scenario, scenarios } from './scenarios';
import { startServers } from './servers/start-servers';

interface BenchOptions {
  readonly scenario?: readonly string[];
  readonly rounds: number;
  readonly quick?: true;
  readonly json: string;
  /** False: the contenders run in the Node that runs this process. */
  readonly install: boolean;
}

const width = Math.max(...Object.keys(contenders).map((name) => name.length)) + 6;

const help = `
Every contender runs in a process of its own and does the same work. It reads log and manifest of each cluster over
https, checks them, takes their SHA-256, compresses them, and stores them over https, with a checksum and under the
condition that the object does not exist. The archive server counts what arrives: a contender that skips a step is not
measured. Service and archive are one process. They answer from memory after a fixed delay and share one core; the
client has the other core to itself (with taskset, where it is installed). Contenders take turns in every round, so ratios
stay comparable while absolute figures drift. Times do not include loading the code. Memory is the process's largest
resident set. V8 may use at most three times 8 MB for young objects, so that the peak shows need rather than garbage.

Scenarios
${scenarios.map(({ name, title }) => `  ${name.padEnd(width)}${title}`).join('\n')}

Contenders
${Object.entries(contenders)
  .map(([name, { about }]) => `  ${name.padEnd(width)}${about}`)
  .join('\n')}

A full run takes ten to twenty minutes. --quick takes a minute; its figures show only that everything works.`;

/** Builds, measures, prints the tables and writes the figures. Sets the exit code to 1 if a contender failed. */
async function runBench(options: BenchOptions): Promise<void> {
  const machine = inspectMachine(options);
  console.log(describe(machine));
  const folder = mkdtempSync(join(tmpdir(), 'collector-bench-'));
  try {
    const built = await buildAll(folder);
    const servers = await startServers(built, machine);
    const results: ScenarioResult[] = [];
    try {
      for (const scenario of selectScenarios(options)) {
        console.log(`\n${scenario.name}: ${scenario.title}`);
        const runOptions = { machine, built, servers, folder, verify: options.quick ?? false };
        const rows = await runRounds(scenario, options.quick ? 1 : options.rounds, runOptions);
        const result = resultOf(scenario, rows);
        console.log(report(result));
        results.push(result);
      }
    } finally {
      servers.close();
    }
    mkdirSync(dirname(options.json), { recursive: true });
    writeFileSync(options.json, `${JSON.stringify({ date: new Date(), machine, results }, undefined, 2)}\n`);
    console.log(`\nAll figures: ${options.json}`);
    if (results.some(({ entries }) => entries.some(({ failed }) => failed !== undefined))) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs every entry once per round, in turn. */
async function runRounds({ name, entries }: Scenario, rounds: number, options: RunOptions): Promise<MeasuredRow[]> {
  const rows = entries.map((entry) => ({ ...entry, runs: [] as RunResult[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const row of rows) {
      const result = await runContender(row, options);
      row.runs.push(result);
      if (result.failed === undefined) console.log(`  ${row.name}: ${result.wallMs?.toFixed(0)} ms`);
      else console.error(`  ${name}, ${row.name} failed: ${result.failed}`);
    }
  }
  return rows;
}

/** The selected scenarios, without rows that cannot be measured on this machine. Prints why these are left out. */
function selectScenarios({ scenario: names, quick }: BenchOptions): Scenario[] {
  const missing = new Set<string>();
  for (const [name, { needs }] of Object.entries<Contender>(contenders)) {
    if (needs === undefined || succeeds(...needs)) continue;
    missing.add(name);
    console.log(`without ${name}: ${needs.join(' ')} failed`);
  }
  return scenarios
    .filter(({ name }) => names?.includes(name) ?? true)
    .map((scenario) => (quick ? quickVersion(scenario) : scenario))
    .map((scenario) => ({
      ...scenario,
      entries: scenario.entries.filter(({ contender }) => !missing.has(contender)),
    }));
}

function describe({ nodeVersion, processor, cores, memoryBytes, isPinned }: Machine): string {
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  const pinning = isPinned
    ? 'the client has a core to itself, both servers share another'
    : 'client and servers share all cores: a quick run, no taskset, or only one core';
  return `Node ${nodeVersion}; ${processor}, ${cores} cores, ${memory}; ${pinning}`;
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number from 1.');
  return value;
}

void new Command('npm run bench --')
  .description('Compares the collector with what people would use instead.')
  .addOption(new Option('-s, --scenario <name...>', 'only these scenarios').choices(scenarios.map(({ name }) => name)))
  .option('-r, --rounds <count>', 'how often each contender runs', positiveInteger, 3)
  .option('-q, --quick', 'a hundredth of the work, one round; the archive server verifies checksums')
  .option('-j, --json <file>', 'file for all figures', join('bench-results', 'bench.json'))
  .option('--no-install', "use this Node instead of Lambda's from npm (which is kept in node_modules/.cache)")
  .addHelpText('after', help)
  .action((options: BenchOptions) => runBench(options))
  .parseAsync();
