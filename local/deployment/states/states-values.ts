/** An error within an execution, by the name that retries and catches know it by. */
export class StatesError extends Error {
  override readonly name = 'StatesError';

  /**
   * @param error such as `States.Runtime`
   * @param stateCause what Step Functions shows as the cause
   */
  constructor(
    readonly error: string,
    readonly stateCause: string,
  ) {
    super(`${error}: ${stateCause}`);
  }

  /** Whether an `ErrorEquals` names it. `States.ALL` does not name the interpreter's own errors. */
  isOneOf(names: readonly string[]): boolean {
    return names.includes(this.error) || (names.includes('States.ALL') && this.error !== 'States.Runtime');
  }
}

/** What an expression can see. */
export interface StatesData {
  /** `$`: the state's input, or its result. */
  readonly input: unknown;
  /** `$$`: the execution and, in a map, the item. */
  readonly context: unknown;
}

/**
 * The value at a JSONPath made of names, indices and `[*]`; undefined if there is none. A path with `[*]` gives a list,
 * without the items that lack the rest of the path.
 * @throws StatesError for any other path
 */
export function valueAt(path: string, { input, context }: StatesData): unknown {
  const match = /^(\$\$?)((?:\.[\w-]+|\[(?:\d+|\*)\])*)$/.exec(path);
  if (match === null) throw new StatesError('States.Runtime', `The path ${path} is not known here.`);
  const [, root, rest = ''] = match;
  const steps = [...rest.matchAll(/\.([\w-]+)|\[(\d+|\*)\]/g)].map(([, name, index]) => name ?? index ?? '');
  let values = [root === '$' ? input : context];
  for (const step of steps)
    values = values.flatMap((value) => {
      if (step === '*') return Array.isArray(value) ? value : [];
      const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
      return isThere ? [(value as Record<string, unknown>)[step]] : [];
    });
  return steps.includes('*') ? values : values[0];
}

/** @throws StatesError if there is nothing at the path, as an execution fails then */
export function demandAt(path: string, data: StatesData): unknown {
  const value = valueAt(path, data);
  if (value === undefined) throw new StatesError('States.Runtime', `There is nothing at ${path}.`);
  return value;
}

/** A payload template filled in: where a name ends with `.$`, its value is a path or an intrinsic function. */
export function fillIn(template: unknown, data: StatesData): unknown {
  if (Array.isArray(template)) return template.map((item) => fillIn(item, data));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) =>
      name.endsWith('.$') ? [name.slice(0, -2), evaluate(String(value), data)] : [name, fillIn(value, data)],
    ),
  );
}

/** @throws StatesError if there is nothing at a path, or a function is not known */
export function evaluate(expression: string, data: StatesData): unknown {
  if (expression.startsWith('$')) return demandAt(expression, data);
  const call = /^(States\.\w+)\((.*)\)$/s.exec(expression);
  if (call === null) throw new StatesError('States.Runtime', `The expression ${expression} is not known here.`);
  const [, name = '', list = ''] = call;
  const known = functions[name];
  if (known === undefined) throw new StatesError('States.Runtime', `The function ${name} is not known here.`);
  return known(...split(list).map((argument) => argumentOf(argument, data)));
}

const functions: Readonly<Record<string, (...values: unknown[]) => unknown>> = {
  'States.Format': (text, ...values) =>
    String(text).replace(/\{\}/g, () => {
      const value = values.shift();
      return typeof value === 'string' ? value : JSON.stringify(value);
    }),
  'States.JsonToString': (value) => JSON.stringify(value),
  'States.JsonMerge': (first, second) => ({ ...(first as object), ...(second as object) }),
};

function argumentOf(text: string, data: StatesData): unknown {
  if (text.startsWith("'")) return text.slice(1, -1).replace(/\\(.)/g, '$1');
  if (text === 'true' || text === 'false') return text === 'true';
  return evaluate(text, data);
}

/** The arguments of a call; a comma within quotes or brackets does not separate two. */
function split(list: string): string[] {
  const parts = list.match(/(?:'(?:\\.|[^'\\])*'|\((?:'(?:\\.|[^'\\])*'|[^()'])*\)|[^,'()])+/g) ?? [];
  return parts.map((part) => part.trim());
}

/** The input with a result in it, where the path says; null drops the result. */
export function placeAt(path: string | null, input: unknown, result: unknown): unknown {
  if (path === null) return input;
  if (path === '$') return result;
  const name = /^\$\.([\w-]+)$/.exec(path)?.[1];
  if (name === undefined) throw new StatesError('States.Runtime', `The result path ${path} is not known here.`);
  return { ...(input as object), [name]: result };
}
