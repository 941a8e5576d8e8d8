import type { ChoiceCondition, MapState, State, States, TaskState } from './states-language';
import { demandAt, evaluate, fillIn, placeAt, type StatesData, StatesError, valueAt } from './states-values';

/** What an execution needs from outside. */
export interface StatesRuntime {
  /**
   * Does the work of a task state.
   * @throws StatesError if it fails
   */
  readonly perform: (resource: string, parameters: unknown) => Promise<unknown>;
  /** Called with the output of each state. */
  readonly onOutput?: (output: unknown) => void;
  /** Waits before a retry. */
  readonly wait: (seconds: number) => Promise<void>;
}

/**
 * Runs states from the first to an end.
 * @param context what `$$` is
 * @returns the output
 * @throws StatesError if the execution fails
 */
export async function executeStates(
  { StartAt, States }: States,
  input: unknown,
  context: object,
  runtime: StatesRuntime,
): Promise<unknown> {
  let data: StatesData = { input, context };
  for (let name: string | undefined = StartAt; name !== undefined; ) {
    const state: State | undefined = States[name];
    if (state === undefined) throw new StatesError('States.Runtime', `There is no state ${name}.`);
    const { output, next } = await enter(state, data, runtime);
    runtime.onOutput?.(output);
    data = { input: output, context };
    name = next;
  }
  return data.input;
}

interface After {
  readonly output: unknown;
  /** Undefined: this was the last state. */
  readonly next: string | undefined;
}

async function enter(state: State, data: StatesData, runtime: StatesRuntime): Promise<After> {
  switch (state.Type) {
    case 'Pass': {
      const input = demandAt(state.InputPath, data);
      const result = state.Parameters === undefined ? input : fillIn(state.Parameters, { ...data, input });
      return after(state, result, data);
    }
    case 'Choice': {
      const chosen = state.Choices.find((rule) => holds(rule, data));
      return { output: data.input, next: chosen?.Next ?? state.Default };
    }
    case 'Fail':
      throw new StatesError(
        state.Error,
        state.CausePath === undefined ? state.Cause : String(evaluate(state.CausePath, data)),
      );
    case 'Succeed':
      return { output: data.input, next: undefined };
    case 'Map':
      return after(state, await mapItems(state, data, runtime), data);
    case 'Task':
      return performTask(state, data, runtime);
  }
}

async function performTask(state: TaskState, data: StatesData, runtime: StatesRuntime): Promise<After> {
  const retries = state.Retry.map(() => 0);
  for (;;) {
    try {
      return after(state, await runtime.perform(state.Resource, fillIn(state.Parameters, data)), data);
    } catch (error) {
      if (!(error instanceof StatesError)) throw error;
      const index = state.Retry.findIndex(({ ErrorEquals }) => error.isOneOf(ErrorEquals));
      const retrier = state.Retry[index];
      const used = retries[index] ?? 0;
      if (retrier !== undefined && used < retrier.MaxAttempts) {
        retries[index] = used + 1;
        const longest = Math.min(retrier.MaxDelaySeconds, retrier.IntervalSeconds * retrier.BackoffRate ** used);
        await runtime.wait(retrier.JitterStrategy === 'FULL' ? Math.random() * longest : longest);
        continue;
      }
      const catcher = state.Catch.find(({ ErrorEquals }) => error.isOneOf(ErrorEquals));
      if (catcher === undefined) throw error;
      const caught = { Error: error.error, Cause: error.stateCause };
      return after(catcher, caught, data);
    }
  }
}

/** Works on the items. The first one that fails fails the map, and no other is begun. */
async function mapItems(state: MapState, data: StatesData, runtime: StatesRuntime): Promise<unknown[]> {
  const items = demandAt(state.ItemsPath, data);
  if (!Array.isArray(items)) throw new StatesError('States.Runtime', `There is no list at ${state.ItemsPath}.`);
  const results: unknown[] = new Array(items.length);
  // The loop that fails closes it for the others.
  const queue = (function* () {
    yield* items.entries();
  })();
  const work = async () => {
    for (const [index, Value] of queue) {
      const context = { ...(data.context as object), Map: { Item: { Value } } };
      const input = fillIn(state.ItemSelector, { input: data.input, context });
      results[index] = await executeStates(state.ItemProcessor, input, context, runtime);
    }
  };
  await Promise.all(Array.from({ length: state.MaxConcurrency }, work));
  return results;
}

/** What follows a state that has a result. */
function after(
  { ResultSelector, ResultPath, Next }: Pick<TaskState, 'ResultSelector' | 'ResultPath' | 'Next'>,
  result: unknown,
  { input, context }: StatesData,
): After {
  const selected = ResultSelector === undefined ? result : fillIn(ResultSelector, { input: result, context });
  return { output: placeAt(ResultPath, input, selected), next: Next };
}

function holds(condition: ChoiceCondition, data: StatesData): boolean {
  const { And, Or, Variable = '', IsPresent, BooleanEquals } = condition;
  if (And !== undefined) return And.every((part) => holds(part, data));
  if (Or !== undefined) return Or.some((part) => holds(part, data));
  if (IsPresent !== undefined) return (valueAt(Variable, data) !== undefined) === IsPresent;
  return demandAt(Variable, data) === BooleanEquals;
}
