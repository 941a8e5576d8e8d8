import * as z from 'zod';
import type { StackTemplate } from './stack-template';
import { UnsupportedTemplateError } from './template';

/** What the template says about the schedule. */
export interface Schedule {
  readonly enabled: boolean;
  /** Name of its group. */
  readonly group: string;
  readonly expression: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly targetArn: string;
  readonly roleArn: string;
  /** Queue for deliveries that failed; undefined: they are lost. */
  readonly deadLetterArn: string | undefined;
  /** JSON with the scheduler's context attributes still in it. */
  readonly input: string;
}

const scheduleSchema = z.strictObject({
  Description: z.unknown().optional(),
  EndDate: z.unknown().optional(),
  FlexibleTimeWindow: z.unknown().optional(),
  GroupName: z.string().default('default'),
  KmsKeyArn: z.unknown().optional(),
  Name: z.unknown().optional(),
  ScheduleExpression: z.string(),
  ScheduleExpressionTimezone: z.string().default('UTC'),
  StartDate: z.unknown().optional(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Target: z.strictObject({
    Arn: z.string(),
    DeadLetterConfig: z.strictObject({ Arn: z.string() }).optional(),
    Input: z.string().default('{}'),
    RetryPolicy: z.unknown().optional(),
    RoleArn: z.string(),
  }),
});

/**
 * The stack's schedule; undefined if it has none.
 * @throws UnsupportedTemplateError for several
 */
export function readSchedule(stack: StackTemplate): Schedule | undefined {
  const [schedule, ...others] = stack.resourcesOf('AWS::Scheduler::Schedule');
  if (schedule === undefined) return undefined;
  if (others.length > 0)
    throw new UnsupportedTemplateError(
      `Cannot tell which schedule to fire: ${[schedule, ...others].map(({ logicalId }) => logicalId).join(', ')}.`,
    );
  const { GroupName, ScheduleExpression, ScheduleExpressionTimezone, State, Target } = schedule.read(scheduleSchema);
  return {
    group: GroupName,
    enabled: State === 'ENABLED',
    expression: ScheduleExpression,
    timeZone: ScheduleExpressionTimezone,
    targetArn: Target.Arn,
    roleArn: Target.RoleArn,
    deadLetterArn: Target.DeadLetterConfig?.Arn,
    input: Target.Input,
  };
}

/**
 * The event that a schedule sends, its context attributes replaced as EventBridge Scheduler does.
 * @throws UnsupportedTemplateError for a context attribute that is not known
 */
export function scheduledEvent({ input }: Schedule, time: Date, scheduleArn = ''): unknown {
  const attributes: Record<string, string> = {
    // The scheduler fires at whole seconds; a local run started in between keeps its own name.
    'aws.scheduler.scheduled-time': time.toISOString().replace('.000Z', 'Z'),
    'aws.scheduler.schedule-arn': scheduleArn,
    'aws.scheduler.attempt-number': '1',
  };
  const text = input.replace(/<(aws\.scheduler\.[a-z-]+)>/g, (whole, name: string) => {
    const value = attributes[name];
    if (value === undefined)
      throw new UnsupportedTemplateError(`Cannot fire the schedule: ${whole} is not known here.`);
    return value;
  });
  return JSON.parse(text);
}
