import * as z from 'zod';
import { refusalOf } from '../aws/iam/authorize';
import type { LocalMessages } from './local-messages';
import { readRole } from './role';
import { type StackTemplate, UnsupportedTemplateError } from './stack-template';

/** The schedule did not reach its target. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

const scheduleSchema = z.strictObject({
  GroupName: z.string().default('default'),
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

const ignored = ['Description', 'FlexibleTimeWindow', 'Name'];

/** What the template says about a schedule. */
export type Schedule = z.output<typeof scheduleSchema>;

export function readSchedules(stack: StackTemplate): Schedule[] {
  return stack.resourcesOf('AWS::Scheduler::Schedule').map((resource) => resource.read(scheduleSchema, ignored));
}

/** The permission to start a target, by the service in its ARN. */
const startActions: Readonly<Record<string, string>> = {
  lambda: 'lambda:InvokeFunction',
  states: 'states:StartExecution',
};

/**
 * Does what EventBridge Scheduler does at a time of the schedule, up to the delivery.
 * @returns the event to start the schedule's target with, and the target's ARN
 * @throws ScheduleError if the schedule is disabled, or its role may not start the target; the message says whether the
 * event lies in the dead-letter queue
 */
export function fireSchedule(
  stack: StackTemplate,
  schedule: Schedule | undefined,
  messages: LocalMessages,
  time: Date,
): { readonly event: object; readonly target: string } {
  if (schedule === undefined) throw new ScheduleError('Cannot fire the schedule: the stack has none.');
  const { State, GroupName, Target } = schedule;
  if (State === 'DISABLED') throw new ScheduleError('Cannot fire the schedule: it is disabled.');
  const action = startActions[Target.Arn.split(':')[2] ?? ''];
  if (action === undefined)
    throw new UnsupportedTemplateError(`Cannot fire the schedule: its target ${Target.Arn} does not run locally.`);
  const { accountId, region } = stack.location;
  // The scheduler names the group, not the schedule.
  const group = `arn:aws:scheduler:${region}:${accountId}:schedule-group/${GroupName}`;
  const scheduler = readRole(stack, Target.RoleArn, 'scheduler.amazonaws.com', group);
  const event = scheduledEvent(Target.Input, time);
  const refusal = refusalOf(scheduler, { action, resource: Target.Arn });
  if (refusal === undefined) return { event, target: Target.Arn };
  const queue = Target.DeadLetterConfig?.Arn;
  const lost =
    queue === undefined
      ? 'The schedule has no dead-letter queue.'
      : messages.send(scheduler, { to: queue, body: JSON.stringify(event) });
  const kept = lost === undefined ? 'The event lies in the dead-letter queue.' : `The event is lost. ${lost}`;
  throw new ScheduleError(`Delivery to ${Target.Arn} refused: ${refusal}. ${kept}`);
}

/** The schedule's input with its context attribute replaced as EventBridge Scheduler does. */
function scheduledEvent(input: string, time: Date): object {
  const text = input.replace(/<aws\.scheduler\.[a-z-]+>/g, (attribute) => {
    if (attribute !== '<aws.scheduler.scheduled-time>')
      throw new UnsupportedTemplateError(`Cannot fire the schedule: ${attribute} is not known here.`);
    // The scheduler fires at whole seconds; a local run may start between two of them.
    return time.toISOString().replace('.000Z', 'Z');
  });
  return JSON.parse(text);
}
