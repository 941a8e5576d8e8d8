import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { buildAll } from './build';
import { describeMachine, pinServers, succeeds } from './machine';
import { type MeasuredRow, report } from './report';
import { type RunOptions, type RunResult, runContender } from './run-contender';
import { quickVersion, type Scenario, scenarios } from './scenarios';
import { startServers } from './servers/servers';

interface BenchOptions {
  readonly scenario?: readonly string[];
  readonly quick?: true;
}

/** How often each contender runs. */
const rounds = 3;

const help = `
Every contender runs in a process of its own and does the same work. It reads log and manifest of each cluster over
https, checks them, takes their SHA-256, compresses them, and stores them over https, with a checksum and under the
condition that the object does not exist. The archive server counts what arrives: a contender that skips a step is not
measured. Service and archive are this process. They answer after a fixed delay and share one core; the client has the
other core to itself (with taskset, where it is installed). What is read back lies in a folder. Contenders take turns in each of ${rounds} rounds, so
ratios stay comparable while absolute figures drift. Times do not include loading the code. Memory is the process's
largest resident set. V8 may use at most three times 8 MB for young objects, so that the peak shows need rather than
garbage. Programs for Node run in the Node that runs this one: take that of Lambda. A full run takes ten to twenty
minutes. --quick takes a minute; its figures show only that everything works.

Scenarios
${scenarios.map(({ name, title }) => `  ${name.padEnd(24)}${title}`).join('\n')}`;

/** Builds, measures and prints the tables. Sets the exit code to 1 if a contender failed. */
async function runBench({ scenario: names, quick }: BenchOptions): Promise<void> {
  // A process that is bound to a core cannot leave it to others. Node's fetch then gives up after ten seconds without a
  // connection, and a quick run, which measures nothing, would fail on a busy machine.
  const isPinned = quick !== true && pinServers();
  console.log(describeMachine(isPinned));
  const hasBoto3 = succeeds('python3', '-c', 'import boto3');
  if (!hasBoto3) console.log('without boto3: python3 does not have it');
  const folder = mkdtempSync(join(tmpdir(), 'collector-bench-'));
  try {
    const built = await buildAll(folder);
    const servers = await startServers(built.tls);
    try {
      for (const scenario of scenarios.filter(({ name }) => names?.includes(name) ?? true)) {
        const { title, entries } = quick ? quickVersion(scenario) : scenario;
        console.log(`\n${scenario.name}: ${title}`);
        const measured = entries.filter(({ program }) => hasBoto3 || program !== 'python-threads.py');
        const rows = await runRounds(measured, quick ? 1 : rounds, { isPinned, built, servers, folder });
        console.log(report(rows));
      }
    } finally {
      servers.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs every entry once per round, in turn. */
async function runRounds(entries: Scenario['entries'], count: number, options: RunOptions): Promise<MeasuredRow[]> {
  const rows = entries.map((entry) => ({ ...entry, runs: [] as RunResult[] }));
  for (let round = 0; round < count; round += 1) {
    for (const row of rows) {
      const result = await runContender(row, options);
      row.runs.push(result);
      if (result.failed === undefined) console.log(`  ${row.name}: ${result.wallMs?.toFixed(0)} ms`);
      else console.error(`  ${row.name} failed: ${result.failed}`);
      if (result.failed !== undefined) process.exitCode = 1;
    }
  }
  return rows;
}

void new Command('npm run bench --')
  .description('Compares the collector with what people would use instead.')
  .addOption(new Option('-s, --scenario <name...>', 'only these scenarios').choices(scenarios.map(({ name }) => name)))
  .option('-q, --quick', 'a hundredth of the work, one round')
  .addHelpText('after', help)
  .action((options: BenchOptions) => runBench(options))
  .parseAsync();
