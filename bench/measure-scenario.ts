import { type ComparisonResult, compare } from './compare';
import { median } from './median';
import { type RunResult, runContender, type Workshop } from './run-contender';
import type { Entry, Measure, Scenario } from './scenario';

/** What an entry came to over all rounds. */
export interface EntryResult {
  readonly name: string;
  readonly runs: readonly RunResult[];
  /** Medians over the rounds. */
  readonly medians: Partial<Record<Measure | 'storedBytes' | 'serverLoad', number>>;
  /** Why there are no figures, and whether that is what the scenario shows. */
  readonly failed?: string;
  readonly isExpected?: boolean;
}

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly rounds: number;
  readonly entries: readonly EntryResult[];
  readonly comparisons: readonly ComparisonResult[];
}

const measures = ['wallMs', 'cpuMs', 'peakBytes', 'storedBytes', 'serverLoad'] as const;

/** Runs every entry once a round, in turn. */
export async function measureScenario(
  scenario: Scenario,
  rounds: number,
  workshop: Workshop,
  onRun: (entry: Entry, result: RunResult) => void,
): Promise<ScenarioResult> {
  const runs = new Map<string, RunResult[]>(scenario.entries.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of scenario.entries) {
      const result = await runContender(entry, workshop);
      runs.get(entry.name)?.push(result);
      onRun(entry, result);
    }
  }
  const results = scenario.entries.map((entry) => entryResult(entry, runs.get(entry.name) ?? []));
  return {
    ...{ name: scenario.name, title: scenario.title, rounds, entries: results },
    comparisons: scenario.comparisons.map((comparison) => compare(comparison, scenario.entries, runs)),
  };
}

function entryResult({ name, workload, mayFail }: Entry, runs: readonly RunResult[]): EntryResult {
  const failed = runs.find((run) => run.failed !== undefined)?.failed;
  if (failed !== undefined) return { name, runs, medians: {}, failed, isExpected: mayFail !== undefined };
  const medians: { -readonly [name in keyof EntryResult['medians']]: number } = {};
  for (const measure of measures) {
    const values = runs.flatMap((run) => run[measure] ?? []);
    if (values.length > 0) medians[measure] = median(values);
  }
  if (medians.wallMs !== undefined)
    medians.wallMsPerCluster = medians.wallMs / (workload.clusters * (workload.runs ?? 1));
  return { name, runs, medians };
}
