import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { contenders } from './contenders';
import { type GrepBenchOptions, runGrepBench } from './grep';
import { type BenchOptions, runBench } from './run-bench';
import { scenarios } from './scenarios';

const width = Math.max(...Object.keys(contenders).map((name) => name.length)) + 2;

const help = `
Every contender runs in a process of its own and does the same work. It reads log and manifest of each cluster over
https, checks them, takes their SHA-256, compresses them, and stores them over https, with a checksum and under the
condition that the object does not exist. The archive server counts what arrives: a contender that skips a step is not
measured. Service and archive are two processes. They answer from memory after a fixed delay and share one core; the
client has the other core to itself (with taskset, where it is installed). Contenders take turns in every round, so ratios
stay comparable while absolute figures drift. Times do not include loading the code. Memory is the process's largest
resident set. V8 may use at most three times 8 MB for young objects, so that the peak shows need rather than garbage.

Scenarios
${scenarios.map(({ name, title }) => `  ${name.padEnd(width)}${title}`).join('\n')}

Contenders
${Object.entries(contenders)
  .map(([name, { about }]) => `  ${name.padEnd(width)}${about}`)
  .join('\n')}

A full run takes a quarter to half an hour. --quick takes a minute or two; its figures show only that everything works.`;

const rowNames = [...new Set(scenarios.flatMap(({ entries }) => entries.map(({ name }) => name)))];

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number from 1.');
  return value;
}

const program = new Command('npm run bench --')
  .enablePositionalOptions()
  .description('Compares the collector with what people would use instead.')
  .addOption(new Option('-s, --scenario <name...>', 'only these scenarios').choices(scenarios.map(({ name }) => name)))
  .addOption(new Option('-c, --contender <name...>', 'only these rows').choices(rowNames))
  .option('-r, --rounds <count>', 'how often each contender runs', positiveInteger, 3)
  .option('-q, --quick', 'a hundredth of the work, one round; the archive server verifies checksums')
  .option('-j, --json <file>', 'file for all figures', join('bench-results', 'bench.json'))
  .option('--no-install', "use this Node instead of Lambda's from npm (which is kept in node_modules/.cache)")
  .option('--profile <folder>', 'also profile our rows, and print the processor time by part')
  .addHelpText('after', help)
  .action((options: BenchOptions) => runBench(options));

program
  .command('grep')
  .description('Compares `collector grep` with zgrep and DuckDB.')
  .option('--objects <count>', 'how many logs are searched', positiveInteger, 1000)
  .option('-r, --rounds <count>', 'how often each contender runs', positiveInteger, 5)
  .option('--no-install', 'do not install DuckDB from npm (which is kept in node_modules/.cache)')
  .action((options: GrepBenchOptions) => runGrepBench(options));

void program.parseAsync();
