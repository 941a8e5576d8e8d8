import type { VerdictValue } from '../archive/format/verdict';
import { dollarsOf, inDollars } from './prices';
import type { Sandbox, Step } from './step';

/** What became of a step. */
export interface Line {
  readonly step: string;
  readonly verdict: VerdictValue;
  /** What was seen, or why not. */
  readonly found: string;
  /** Who answered: the account, or what stood in for it. */
  readonly seenBy: string;
  readonly minutes: number;
  /** Computed by list prices. */
  readonly dollars: number;
}

export interface TryOptions {
  /** Who answers a step; undefined: nobody here can, and it is not seen. */
  readonly placeOf: (step: Step) => string | undefined;
  /** Whether nothing is called: then nothing is seen. */
  readonly isDry: boolean;
  readonly now: () => number;
  readonly interrupted: AbortSignal;
}

/** Does steps one after the other. What fails is told and stops nothing, unless what follows needs it. */
export async function trySteps(
  sandbox: Sandbox,
  steps: readonly Step[],
  { placeOf, isDry, now, interrupted }: TryOptions,
): Promise<Line[]> {
  const lines: Line[] = [];
  let missing: string | undefined;
  for (const [at, step] of steps.entries()) {
    const { name, minutes, usage } = step;
    sandbox.say(`[${at + 1}/${steps.length}] ${name}: about ${minutes} min, ${inDollars(dollarsOf(usage, minutes))}`);
    const began = now();
    const seenBy = placeOf(step);
    const why = missing ?? (interrupted.aborted ? 'it was interrupted' : undefined);
    const { verdict, found }: Pick<Line, 'verdict' | 'found'> =
      why !== undefined
        ? { verdict: 'not seen', found: why }
        : seenBy === undefined
          ? { verdict: 'not seen', found: 'nothing here stands in for the account' }
          : await tried(step, sandbox, isDry);
    if (step.isNeeded && verdict === 'wrong') missing = `"${name}" failed before it`;
    const took = (now() - began) / 60_000;
    lines.push({
      step: name,
      verdict,
      found,
      seenBy: seenBy ?? 'nobody',
      minutes: took,
      dollars: dollarsOf(usage, took),
    });
    sandbox.say(`  ${verdict}: ${found}`);
  }
  return lines;
}

async function tried({ work }: Step, sandbox: Sandbox, isDry: boolean): Promise<Pick<Line, 'verdict' | 'found'>> {
  try {
    const found = await work(sandbox);
    return isDry ? { verdict: 'not seen', found: `would be: ${found}` } : { verdict: 'right', found };
  } catch (error) {
    // Whatever it is, the removal has to follow.
    return { verdict: 'wrong', found: (error as Error).message };
  }
}

/** What all steps may take, and cost. */
export function estimateOf(steps: readonly Step[]): string {
  const minutes = steps.reduce((sum, step) => sum + step.minutes, 0);
  const dollars = steps.reduce((sum, { usage, minutes }) => sum + dollarsOf(usage, minutes), 0);
  return `${steps.length} steps, about ${minutes} minutes and ${inDollars(dollars)} by the list prices of docs/background.md`;
}
