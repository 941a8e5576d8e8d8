import * as z from 'zod';
import { refusalOf } from '../aws/iam/authorize';
import { type LocalMessages, MessageRefusedError } from './local-messages';
import { type Role, readRole } from './role';
import { type StackResource, type StackTemplate, UnsupportedTemplateError } from './stack-template';

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

/** The schedule did not reach its target. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

const scheduleSchema = z.strictObject({
  Description: z.unknown().optional(),
  FlexibleTimeWindow: z.unknown().optional(),
  GroupName: z.string().default('default'),
  Name: z.unknown().optional(),
  ScheduleExpression: z.string(),
  ScheduleExpressionTimezone: z.string().default('UTC'),
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
 * The one schedule that the predicate selects; undefined if there is none.
 * @throws UnsupportedTemplateError for several
 */
export function readSchedule(stack: StackTemplate, isWanted: (schedule: Schedule) => boolean): Schedule | undefined {
  const wanted = stack
    .resourcesOf('AWS::Scheduler::Schedule')
    .map((resource) => ({ logicalId: resource.logicalId, schedule: scheduleOf(resource) }))
    .filter(({ schedule }) => isWanted(schedule));
  if (wanted.length > 1)
    throw new UnsupportedTemplateError(
      `Cannot tell which schedule to fire: ${wanted.map(({ logicalId }) => logicalId).join(', ')}.`,
    );
  return wanted[0]?.schedule;
}

function scheduleOf(resource: StackResource): Schedule {
  const { GroupName, ScheduleExpression, ScheduleExpressionTimezone, State, Target } = resource.read(scheduleSchema);
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

/** The permission to start a target, by the service in its ARN. */
const startActions: Readonly<Record<string, string>> = {
  lambda: 'lambda:InvokeFunction',
  states: 'states:StartExecution',
};

/**
 * Does what EventBridge Scheduler does at a time of the schedule, up to the delivery.
 * @returns the event to start the schedule's target with
 * @throws ScheduleError if the schedule is disabled, or its role may not start the target; the message says whether the
 * event lies in the dead-letter queue
 */
export function fireSchedule(
  stack: StackTemplate,
  schedule: Schedule | undefined,
  messages: LocalMessages,
  time: Date,
): unknown {
  if (schedule === undefined) throw new ScheduleError('Cannot fire the schedule: the stack has none.');
  if (!schedule.enabled) throw new ScheduleError('Cannot fire the schedule: it is disabled.');
  const { targetArn } = schedule;
  const action = startActions[targetArn.split(':')[2] ?? ''];
  if (action === undefined)
    throw new UnsupportedTemplateError(`Cannot fire the schedule: its target ${targetArn} does not run locally.`);
  const { accountId, region } = stack.location;
  const scheduler = readRole(stack, schedule.roleArn, {
    principal: 'scheduler.amazonaws.com',
    // The scheduler names the group, not the schedule.
    sourceArn: `arn:aws:scheduler:${region}:${accountId}:schedule-group/${schedule.group}`,
  });
  const event = scheduledEvent(schedule, time);
  const refusal = refusalOf(scheduler, { action, resource: targetArn });
  if (refusal === undefined) return event;
  const kept = keepUndelivered(messages, schedule, scheduler, event);
  throw new ScheduleError(`Delivery to ${targetArn} refused: ${refusal}. ${kept}`);
}

/** The schedule's input with its context attribute replaced as EventBridge Scheduler does. */
function scheduledEvent({ input }: Schedule, time: Date): unknown {
  const text = input.replace(/<aws\.scheduler\.[a-z-]+>/g, (attribute) => {
    if (attribute !== '<aws.scheduler.scheduled-time>')
      throw new UnsupportedTemplateError(`Cannot fire the schedule: ${attribute} is not known here.`);
    // The scheduler fires at whole seconds; a local run may start between two of them.
    return time.toISOString().replace('.000Z', 'Z');
  });
  return JSON.parse(text);
}

/** @returns where the undelivered event is now, as a sentence */
function keepUndelivered(
  messages: LocalMessages,
  { deadLetterArn }: Schedule,
  scheduler: Role,
  event: unknown,
): string {
  if (deadLetterArn === undefined) return 'The event is lost: the schedule has no dead-letter queue.';
  try {
    messages.send(deadLetterArn, scheduler, JSON.stringify(event));
    return 'The event lies in the dead-letter queue.';
  } catch (error) {
    if (error instanceof MessageRefusedError) return `The event is lost. ${error.message}`;
    throw error;
  }
}
