import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { contenders } from './contenders';
import { runBench } from './run-bench';
import { scenarios } from './scenarios';

export interface BenchOptions {
  readonly scenario?: readonly string[];
  readonly contender?: readonly string[];
  readonly rounds: number;
  readonly quick?: true;
  readonly json: string;
  /** False: with the Node that runs the benchmark. */
  readonly install: boolean;
  readonly profile?: string;
}

const width = Math.max(...Object.keys(contenders).map((name) => name.length)) + 2;

const help = `
Every contender does the same work in a process of its own: it reads log and manifest of each cluster over https, checks
them, takes their SHA-256, compresses them and stores them over https, under the condition that the object is new and with
a checksum. The archive's side counts what arrives: who left something out gets no figure. Service and archive are two
processes that answer from memory after a fixed wait and share a core; the client has the other one to itself (taskset,
where it is found). Contenders take turns in every round, so ratios hold although absolute figures drift. Times are
without the loading of code; memory is the process's largest resident set, where V8 may use no
more than three times 8 MB for young objects, so that it tells less of garbage than of need.

Scenarios
${scenarios.map(({ name, title }) => `  ${name.padEnd(width)}${title}`).join('\n')}

Contenders
${Object.entries(contenders)
  .map(([name, { about }]) => `  ${name.padEnd(width)}${about}`)
  .join('\n')}

A full run takes a quarter to three quarters of an hour, --quick a minute or two; quick figures are good for nothing but seeing that it works.`;

/** The command line. */
export function createProgram(): Command {
  return new Command('npm run bench --')
    .description('Measures the collector against what people would use instead.')
    .addOption(
      new Option('-s, --scenario <name...>', 'only these scenarios').choices(scenarios.map(({ name }) => name)),
    )
    .addOption(new Option('-c, --contender <name...>', 'only these rows').choices(rowNames()))
    .option('-r, --rounds <count>', 'how often each contender runs', positiveInteger, 3)
    .option('-q, --quick', 'a hundredth of the work, one round, checksums verified by the archive')
    .option('-j, --json <file>', 'where all figures are written', join('bench-results', 'bench.json'))
    .option('--no-install', "take this Node, rather than Lambda's from npm (kept in node_modules/.cache)")
    .option('--profile <folder>', "also profile our rows' processor time, and sum it up by part")
    .addHelpText('after', help)
    .action((options: BenchOptions) => runBench(options));
}

function rowNames(): string[] {
  return [...new Set(scenarios.flatMap(({ entries }) => entries.map(({ name }) => name)))];
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number from 1.');
  return value;
}
