import * as z from 'zod';

/**
 * The Amazon States Language as far as the collector's state machine uses it, with JSONPath. Everything is strict: a
 * field that is not listed here is an error, never ignored.
 */
const named = { Comment: z.string().optional() };
const forward = { Next: z.string().optional(), End: z.literal(true).optional() };
const template = z.record(z.string(), z.unknown());
const resultPath = z.string().nullable().default('$');

const retrier = z.strictObject({
  ErrorEquals: z.array(z.string()),
  IntervalSeconds: z.number().positive().default(1),
  MaxAttempts: z.int().nonnegative().default(3),
  BackoffRate: z.number().min(1).default(2),
  MaxDelaySeconds: z.number().positive().default(Number.POSITIVE_INFINITY),
  JitterStrategy: z.enum(['NONE', 'FULL']).default('NONE'),
});

const catcher = z.strictObject({ ErrorEquals: z.array(z.string()), Next: z.string(), ResultPath: resultPath });

const comparison = z.strictObject({
  Variable: z.string(),
  IsPresent: z.boolean().optional(),
  BooleanEquals: z.boolean().optional(),
});

type Condition = z.output<typeof comparison> | { And: Condition[] } | { Or: Condition[] };

const condition: z.ZodType<Condition> = z.lazy(() =>
  z.union([
    comparison,
    z.strictObject({ And: z.array(condition).min(1) }),
    z.strictObject({ Or: z.array(condition).min(1) }),
  ]),
);

/** A condition, with the state to go to. */
const rule = z.looseObject({ Next: z.string() }).transform(({ Next, ...rest }, context) => {
  const parsed = condition.safeParse(rest);
  if (parsed.success) return { next: Next, condition: parsed.data };
  context.addIssue({ code: 'custom', message: `an unknown condition ${JSON.stringify(rest)}` });
  return z.NEVER;
});

const pass = z.strictObject({
  Type: z.literal('Pass'),
  ...named,
  ...forward,
  InputPath: z.string().default('$'),
  Parameters: template.optional(),
  ResultPath: resultPath,
});

const task = z.strictObject({
  Type: z.literal('Task'),
  ...named,
  ...forward,
  Resource: z.string(),
  Parameters: template,
  ResultSelector: template.optional(),
  ResultPath: resultPath,
  // Without effect here: the function's own time limit ends first.
  TimeoutSeconds: z.number().optional(),
  Retry: z.array(retrier).default([]),
  Catch: z.array(catcher).default([]),
});

const choice = z.strictObject({
  Type: z.literal('Choice'),
  ...named,
  Choices: z.array(rule),
  Default: z.string().optional(),
});

const fail = z.strictObject({
  Type: z.literal('Fail'),
  ...named,
  Error: z.string(),
  Cause: z.string().default(''),
  CausePath: z.string().optional(),
});

const succeed = z.strictObject({ Type: z.literal('Succeed'), ...named });

const map = z.strictObject({
  Type: z.literal('Map'),
  ...named,
  ...forward,
  ItemsPath: z.string().default('$'),
  ItemSelector: template,
  MaxConcurrency: z.int().positive(),
  ResultSelector: template.optional(),
  ResultPath: resultPath,
  ItemProcessor: z.lazy(() =>
    z.strictObject({
      ProcessorConfig: z.strictObject({ Mode: z.literal('INLINE') }),
      StartAt: z.string(),
      States: z.record(z.string(), state),
    }),
  ),
});

export type State =
  | z.output<typeof pass>
  | z.output<typeof task>
  | z.output<typeof choice>
  | z.output<typeof fail>
  | z.output<typeof succeed>
  | MapState;

export interface MapState {
  Type: 'Map';
  Comment?: string | undefined;
  Next?: string | undefined;
  End?: true | undefined;
  ItemsPath: string;
  ItemSelector: Record<string, unknown>;
  MaxConcurrency: number;
  ResultSelector?: Record<string, unknown> | undefined;
  ResultPath: string | null;
  ItemProcessor: States & { ProcessorConfig: { Mode: 'INLINE' } };
}

/** States, and the name of the first one. */
export interface States {
  StartAt: string;
  States: Record<string, State>;
}

const state: z.ZodType<State> = z.lazy(() => z.discriminatedUnion('Type', [pass, task, choice, fail, succeed, map]));

export const stateMachineSchema = z.strictObject({
  ...named,
  StartAt: z.string(),
  States: z.record(z.string(), state),
  TimeoutSeconds: z.number().optional(),
});

export type TaskState = z.output<typeof task>;
export type ChoiceCondition = Condition;
