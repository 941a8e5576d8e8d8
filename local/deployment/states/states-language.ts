import * as z from 'zod';

/*
 * The Amazon States Language as far as infra/fan-out.ts uses it, with JSONPath. Everything is strict: a field
 * that is not listed here is an error, never ignored.
 */
const common = { Comment: z.string().optional() };
const step = { ...common, Next: z.string().optional(), End: z.literal(true).optional() };
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

/** One of these is there: a comparison of the variable, or conditions of which all or one must hold. */
const condition = z.strictObject({
  Variable: z.string().optional(),
  IsPresent: z.boolean().optional(),
  BooleanEquals: z.boolean().optional(),
  get And() {
    return z.array(condition).optional();
  },
  get Or() {
    return z.array(condition).optional();
  },
});

/** A condition, with the state to go to. */
const rule = condition.extend({ Next: z.string() });

const pass = z.strictObject({
  Type: z.literal('Pass'),
  ...step,
  InputPath: z.string().default('$'),
  Parameters: template.optional(),
  ResultPath: resultPath,
});

const task = z.strictObject({
  Type: z.literal('Task'),
  ...step,
  Resource: z.string(),
  Parameters: template,
  ResultSelector: template.optional(),
  ResultPath: resultPath,
  // Without effect here: the function's own time limit ends first.
  TimeoutSeconds: z.number().optional(),
  Retry: z.array(retrier).default([]),
  Catch: z.array(catcher).default([]),
});

const choice = z.strictObject({ Type: z.literal('Choice'), ...common, Choices: z.array(rule), Default: z.string() });

const fail = z.strictObject({
  Type: z.literal('Fail'),
  ...common,
  Error: z.string(),
  Cause: z.string().default(''),
  CausePath: z.string().optional(),
});

const succeed = z.strictObject({ Type: z.literal('Succeed'), ...common });

const map = z.strictObject({
  Type: z.literal('Map'),
  ...step,
  ItemsPath: z.string(),
  ItemSelector: template,
  MaxConcurrency: z.int().positive(),
  ResultSelector: template,
  ResultPath: resultPath,
  // No map is within another.
  ItemProcessor: z.strictObject({
    ProcessorConfig: z.strictObject({ Mode: z.literal('INLINE') }),
    StartAt: z.string(),
    States: z.record(z.string(), z.discriminatedUnion('Type', [pass, task])),
  }),
});

const state = z.discriminatedUnion('Type', [pass, task, choice, fail, succeed, map]);

export const stateMachineSchema = z.strictObject({
  ...common,
  StartAt: z.string(),
  States: z.record(z.string(), state),
  TimeoutSeconds: z.number().optional(),
});

export type ChoiceCondition = z.output<typeof condition>;
export type State = z.output<typeof state>;
export type TaskState = z.output<typeof task>;
export type MapState = z.output<typeof map>;

/** States, and the name of the first one. */
export interface States {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}
